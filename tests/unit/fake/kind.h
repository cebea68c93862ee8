/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of guests that a test's program is linked with, by their numbers. */
#pragma once

#include <stdlib.h>

#include "core/guest_kind.h"

static inline const struct guest_kind *kind_linked(u32 number)
{
	const struct guest_kind *const *kind;

	for (kind = UNITS_FIRST(guest_kinds); kind < UNITS_END(guest_kinds); kind++)
		if ((*kind)->number == number)
			return *kind;
	abort();
}
