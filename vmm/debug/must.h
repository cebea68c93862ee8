/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asserts for the checks of shadow page tables: it panics with what is broken, where, and by which
 * value.
 */
#pragma once

#include "core/log.h"

static inline void must(bool holds, const char *what, u32 where, u32 value)
{
	if (!holds)
		panic("the shadow page tables are broken: %s, at %x: %x", what, where, value);
}
