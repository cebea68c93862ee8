/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariant of shadow.c, for debug builds of the VMM (vmm/debug) and tests on the host.
 */
#pragma once

struct x86;

/* Panics with a sentence if any of a guest's shadow page tables, or of what the VMM has noted about
 * them, is not as it must be whenever the guest runs. All are looked at. */
void shadow_check(const struct x86 *x86);
/* At each return to the current guest, interrupts are disabled: looks at what the entry can have
 * changed, and at all as often as that costs a return no more than RETURN_SHARE entries. */
void shadow_check_return(void);
