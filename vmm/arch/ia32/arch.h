/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The architecture as core sees it, by the include path: core knows no register, no bit of a
 * page-table entry and no exception. What is short is inline, since speed asks for it. The other
 * way, the architecture calls core where the machine enters the VMM (vmm/walls.toml has the
 * list).
 *
 * Behind this header are also: rdtsc() and rdtsc_since(), the time in ticks; fetch_add() and
 * bit_test(), words that an interrupt does not split (cpu.h); physical memory and what is mapped
 * in every address space (memory.h, layout.h); the switch between vCPUs (switch.h); the parts of
 * a report that are the architecture's (exception.h).
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

/* Interrupts of the core. What is behind the last three is a masked section, by name. */
#define interrupts_enable() sti()
#define interrupts_disable(section) cli(section)
/* Lets in what waits, and disables again. */
#define interrupts_admit(section) sti_nop_cli(section)
/* Sleeps until one has been served. */
#define interrupts_await(section) sti_hlt_cli(section)

/* Brings the processor from its state at boot to the VMM's: tables, entries, paging, FPU. */
void processor_init(void);
/* Room for a new vCPU's tables; false if the pool is too small. */
MUST_CHECK bool processor_create(struct vcpu *vcpu);
/* As it is at power-on, for a guest that starts; on the idle vCPU, which lets others run
 * meanwhile. */
void processor_reset(struct vcpu *vcpu);
/* When its kind has made its first frame: what the next return to it loads. */
void processor_start(struct vcpu *vcpu);
/* It has been taken down: nothing of it is left in registers that are switched late. */
void processor_stop(const struct vcpu *vcpu);
/* Before a switch between the two, if one of them has had breakpoints. */
static inline void processor_prepare(const struct vcpu *from, const struct vcpu *to)
{
	if ((to->dr[7] | from->dr[7]) & DEBUG_ENABLES)
		debug_load(to);
}

/* A guest that takes the core's interrupts itself uses the vector of the VMM's clock as it
 * likes. */
void trap_give_clock(bool given);

/* The number and the arguments of the hypercall in a frame (abi/gandalf.h). */
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
