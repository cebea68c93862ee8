/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The architecture as core sees it: core includes this header, and of the architecture's others
 * only those that vmm/walls.toml names, which this header needs itself. So core knows no register,
 * no bit of a page-table entry and no exception. Short functions are inline, for speed. In the
 * other direction the architecture calls core where the machine enters the VMM (vmm/walls.toml
 * lists these calls).
 *
 * It includes other headers of the architecture, and offers of them what is named here:
 *
 *	cpu.h		rdtsc(), rdtsc_since(): the time in ticks; bit_test(), bit_set();
 *			fetch_add(), which an interrupt does not split; order_stores(), for words
 *			that other cores read; halt(), until the next interrupt
 *	memory.h	memory_init(), memory_copy(), memory_copy_in(), memory_copy_out(),
 *			memory_zero(), memory_crc(): physical memory; memory_map_more(),
 *			memory_map_page(), memory_map_pool(): what every address space has
 *	masked.h	MASKED_NUMBER: for the table of a folder's masked sections
 *	switch.h	switch_create(), switch_vcpu(), switch_to_boot_stack()
 *	exception.h	exception_log_place(), exception_log_registers(): parts of a report
 *	instance.h	instance_keep(), instance_size(), instance_create(), instance_read()
 *	state.h		the frame of a vCPU, which is handed on
 *	register.h	PAGE_SIZE, PAGE_SHIFT, PAGE_OF: pages, by addresses alone
 *	layout.h	LAYOUT_IMAGE, LAYOUT_PHYSICAL, LAYOUT_POOL, LAYOUT_START, LAYOUT_OUTBOXES:
 *			linear addresses
 *
 * `make check` names a file of core that uses anything else of them.
 */
#pragma once

#include "arch/ia32/cpu.h"
#include "arch/ia32/debug.h"
#include "arch/ia32/exception.h"
#include "arch/ia32/instance.h"
#include "arch/ia32/layout.h"
#include "arch/ia32/memory.h"
#include "arch/ia32/switch.h"
#include "masked_state.h"

/* Interrupts of the core. Each of the last three macros begins the masked section that it names
 * (arch/ia32/masked.h). */
#define interrupts_enable() sti()
#define interrupts_disable(section) cli(section)
/* Lets in the interrupts that wait, and disables them again. */
#define interrupts_admit(section) sti_nop_cli(section)
/* Sleeps until an interrupt has been served, and disables them again. */
#define interrupts_await(section) sti_hlt_cli(section)

/* Makes the code of the entries, which all CPUs have in common. The first CPU calls it once, before
 * another one is started: a CPU that executes this code while it is written does anything. */
void entries_make(void);

/* Brings the processor from its state at boot to the VMM's: descriptor tables, handlers, FPU. */
void processor_init(void);
/* Allocates a new vCPU's tables. Returns false if the pool is empty. */
MUST_CHECK bool processor_create(struct vcpu *vcpu);
/* Sets the vCPU's processor state to that at power-on, before a guest starts. The idle vCPU calls
 * this, and lets more urgent guests run meanwhile. */
void processor_reset(struct vcpu *vcpu);
/* Decides what CR0 the first return to the vCPU loads. It is called when the guest's kind has made
 * the first frame. */
void processor_start(struct vcpu *vcpu);
/* Forgets a vCPU whose guest has been taken down: the FPU, which is switched late, then no longer
 * counts as holding its state. */
void processor_stop(const struct vcpu *vcpu);
/* Saves the floating-point state of a vCPU that leaves this core, and forgets the vCPU. */
void processor_leave(struct vcpu *vcpu);
/* Loads CR4.TSD (SDM vol. 3, 2.5) for a vCPU. */
void processor_load_tsd(const struct vcpu *vcpu);
/* Loads before a switch what few guests use: the debug registers, if either vCPU has a breakpoint
 * enabled, and CR4.TSD. Core calls it only once a guest has used one of them (core.unusual). */
static inline void processor_prepare(const struct vcpu *from, const struct vcpu *to)
{
	if ((to->dr[7] | from->dr[7]) & DEBUG_ENABLES)
		debug_load(to);
	if (to->tsd != from->tsd)
		processor_load_tsd(to);
}
/* Keeps RDTSC from the processes of the current vCPU (CR4_TSD), or gives it back to them (0). */
void processor_hide_time(struct vcpu *vcpu, u32 tsd);

/* Gives the vector of the VMM's clock to the guest that takes the core's interrupts itself (true),
 * or back to the VMM (false). A guest that has it uses it as it likes. */
void trap_give_clock(bool given);
/* Gives the vector of an interrupt a handler of its own on this core. What the handler does not do
 * it leaves to trap_interrupt() (arch/ia32/entry.h). */
void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame));

/* Return the number of the hypercall in a frame, and its arguments 0 to 3 (abi/gandalf.h). */
static inline u32 frame_number(const struct frame *frame)
{
	return frame->eax;
}

static inline u32 frame_argument(const struct frame *frame, unsigned index)
{
	return index == 0   ? frame->ebx
	       : index == 1 ? frame->ecx
	       : index == 2 ? frame->edx
			    : frame->esi;
}
