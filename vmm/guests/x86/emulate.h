/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulation of what Linux may not do in ring 1: privileged instructions, and stores to
 * pages that are kept read-only.
 */
#pragma once

#include "guests/x86/x86.h"

/* Serves a #GP. The instruction at EIP of ring 1 is emulated. The guest gets the exception if that
 * is not possible, or is stopped. One of a process is emulated if it is an access to a port
 * that its kernel permits it (io_permission.h), and is the guest's to serve if not. */
void emulate_general_protection(struct vcpu *vcpu, struct frame *frame);
/* Emulates an IRET that faulted because ring 3's code segment is absent: an interrupt waits, or the
 * return is watched. Returns false if neither is so, or the instruction is another. */
MUST_CHECK bool emulate_blocked_return(struct x86 *x86);
/* Emulates a store to the read-only page of the guest's GDT, or of its local APIC (to_apic). Stops
 * the guest if the store is of an unknown form. */
void emulate_store(struct x86 *x86, u32 linear, bool to_apic);
/* Emulates a store to the GDT in shadow.protected_page much faster. Returns false if it has not the
 * form of Linux's; emulate_store() may know it then. */
MUST_CHECK bool emulate_gdt_store(struct x86 *x86, u32 linear);
/* Emulates the store to the alias that enables interrupts while one waits. Returns false if the
 * instruction is another. */
MUST_CHECK bool emulate_alias_store(struct x86 *x86);

/* Reads all of the guest's descriptors again, and puts them into the real GDT. */
void emulate_reload_gdt(struct x86 *x86);
