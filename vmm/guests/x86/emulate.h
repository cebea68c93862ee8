/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The privileged instructions that Linux executes in ring 1, one function each,
 * in a table.
 */
#pragma once

#include "guests/x86/x86.h"

/* A #GP in ring 1: emulates the instruction at EIP, or gives the exception to
 * the guest, or stops it. */
void emulate_general_protection(struct x86 *x86, u32 error);
/* An IRET that faulted since a waiting interrupt had made ring 3's code segment
 * absent; false if the instruction is something else. */
MUST_CHECK bool emulate_blocked_return(struct x86 *x86);
/* A store to the page of the guest's GDT, which is kept read-only, or of its local APIC. */
void emulate_store(struct x86 *x86, u32 linear, bool to_apic);
/* The same to the GDT, much sooner, where shadow.protected_page is; false: it has another
 * form than Linux's, and emulate_store() may know it. */
MUST_CHECK bool emulate_gdt_store(struct x86 *x86, u32 linear);
/* The store that enables interrupts while one waits; false if it is another. */
MUST_CHECK bool emulate_alias_store(struct x86 *x86);

/* Reads the guest's descriptors again. */
void emulate_reload_gdt(struct x86 *x86);
