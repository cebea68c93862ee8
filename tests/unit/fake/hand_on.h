/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes between an entry of a guest and its kind's operations, for the tests of
 * either kind.
 */
#ifndef GANDALF_FAKE_HAND_ON_H
#define GANDALF_FAKE_HAND_ON_H

#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"
#include "core/hypercall.h"
#include "last_words.h"
#include "arch/ia32/register.h"

/* As trap.c's handlers do it. */
static void hand_on(struct vcpu *to, struct frame *from)
{
	core.current = to;
	if (from->vector == GANDALF_HYPERCALL_VECTOR)
		from->eax = trap_hypercall(from);
	else if (from->vector == EXCEPTION_PF)
		to->operations->page_fault(to, from);
	else if (from->vector == EXCEPTION_GP)
		to->operations->general_protection(to, from);
	else
		to->operations->trap(to, from);
}

#endif
