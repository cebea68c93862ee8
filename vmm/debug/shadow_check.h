/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariant of shadow.c, for debug builds of the VMM (vmm/debug) and tests on the host.
 */
#pragma once

struct x86;

/* Checks all of a guest's shadow page tables, and what the VMM has noted about them. Panics with a
 * sentence if something breaks the invariant (shadow_check.c). */
void shadow_check(const struct x86 *x86);
/* Is called at each return to the current guest, with interrupts disabled. Checks what the entry
 * can have changed, and everything so rarely that it costs each return RETURN_SHARE entries on
 * average. */
void shadow_check_return(void);
