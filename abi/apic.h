/* SPDX-License-Identifier: MIT */
/*
 * The local APICs of a Linux with several vCPUs, and how these interrupt and start each other. Each
 * vCPU has its registers (SDM vol. 3, section 10.4) at GANDALF_APIC_BASE. The calls are refused
 * with GANDALF_ERROR_ARGUMENT if the guest has one vCPU, in an image for guests with several; any
 * other image has none of them, and stops the guest.
 */
#pragma once

/*
 * Writes a register of the vCPU's local APIC. EBX is its offset in the page, ECX the value. A store
 * to that page does the same and takes longer; a load needs no help of the VMM, but it shows the
 * timer's current count as 0. Returns 0.
 */
#define GANDALF_HYPERCALL_APIC_WRITE 19
#define GANDALF_APIC_BASE 0xFEE00000
/*
 * A register that no real APIC has. While it is 1 every interrupt ends as soon as it is delivered,
 * so no EOI is needed. A kernel may set it whose handlers run with interrupts disabled.
 */
#define GANDALF_APIC_AUTOMATIC_END 0xff0

/*
 * Interrupts vCPUs of the guest. EBX has a bit for each, by its local APIC's ID; the IDs are 0, 1
 * and so on in the order of the description. ECX is the vector, from GANDALF_IPI_FIRST to 255. Bits
 * of vCPUs that do not run have no effect. Returns 0, or GANDALF_ERROR_ARGUMENT for another vector.
 */
#define GANDALF_HYPERCALL_IPI 20
#define GANDALF_IPI_FIRST 0xe0

/*
 * Starts another vCPU of the guest, also one that runs, as INIT and a start-up IPI would. EBX is
 * the ID of its local APIC, ECX the guest-physical address of its first instruction, where it
 * finds itself as the first vCPU did at the guest's entry, but with undefined registers. Returns
 * 0, or GANDALF_ERROR_ARGUMENT if there is no such vCPU or address.
 */
#define GANDALF_HYPERCALL_START_CPU 21

/*
 * Ends the turn of the caller, which waits for a vCPU that may be one of the same core without its
 * turn. Those that could run have theirs first. Does nothing if the caller shares its core with no
 * other vCPU of the guest, or the guest has GANDALF_GUEST_SPINS (table.h). By the policy
 * GANDALF_PREEMPTION_PULL (control.h) vCPUs of other cores that wait for their turn get it, too.
 * Returns 0.
 */
#define GANDALF_HYPERCALL_YIELD 22
/* How often our kernels look before they call it: what they wait for mostly comes much sooner. */
#define GANDALF_SPINS 256
