/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of guests and the hypercalls that a test's program is linked with, by their numbers. */
#pragma once

#include <stdlib.h>

#include "core/guest_kind.h"
#include "core/hypercall.h"

static inline const struct guest_kind *kind_linked(u32 number)
{
	const struct guest_kind *const *kind;

	for (kind = UNITS_FIRST(guest_kinds); kind < UNITS_END(guest_kinds); kind++)
		if ((*kind)->number == number)
			return *kind;
	abort();
}

static inline hypercall_function hypercall_linked(u32 number)
{
	const struct hypercall *const *call;

	for (call = UNITS_FIRST(hypercalls); call < UNITS_END(hypercalls); call++)
		if ((*call)->number == number)
			return (*call)->function;
	abort();
}

/* Gives a vCPU the hypercalls of its kind, of which the tables are made at the first call. */
static inline void hypercalls_give(struct vcpu *vcpu)
{
	static bool made;

	if (!made)
		hypercall_init();
	made = true;
	hypercall_give(vcpu);
}
