/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vCPUs that move from core to core while their guest runs. A guest whose description allows it has
 * a seat for each of its vCPUs but the first on each of its cores: a VM with a VMM stack,
 * descriptor tables and shadow page tables, that lasts as long as the core does. The vCPU is in one
 * of them.
 *
 * To leave, it is stopped where the VMM does not work for it. What it takes along is written into a
 * page that all cores have mapped, and from then on nobody writes to that or to the seat. The core
 * that it has left for copies its state from there. It has arrived when that core says so in
 * part_page.held; until then it counts as being where it was. Both halves are the idle vCPUs' work,
 * so an RTOS waits for neither; but a vCPU may also leave while an RTOS has its core
 * (preemption.h).
 *
 * Shadow page tables stay in the seats. A seat that the vCPU comes back to has them as they were,
 * and does to them what has been flushed since (guests/x86/smp/flush_log.c, migrate.c).
 *
 * Interrupts of siblings, the life of the whole and answers about ports are looked at behind the
 * store to held, with order_stores() between. Who sends one stores it first, and then looks where
 * the vCPU is, with order_stores() between. So one of the two sees what the other has stored. A
 * start is handed on instead, since it has no place of its own. tests/cores/migration.pml is a
 * model of this.
 */
#pragma once

#include "core/part.h"

/* What the kind of a guest does when one of its vCPUs moves. */
struct seat_operations {
	/* The vCPU leaves this seat: writes down what it takes along. Interrupts are masked, also
	 * of an RTOS, which may have the core. */
	void (*leave)(struct vcpu *vcpu);
	/* Returns in which life of the guest the vCPU runs that has left its seat on that core. */
	u32 (*life)(const struct vm *vm, u32 from);
	/* Copies the state that the vCPU has left there into this seat, whose VM this is. The idle
	 * vCPU calls it, and more urgent guests run between its steps. */
	void (*copy)(struct vm *vm, u32 from);
	/* The vCPU is here: takes what siblings have sent it meanwhile. Interrupts are masked. */
	void (*arrive)(struct vcpu *vcpu);
};

/* Whether a VM is a seat: its vCPU moves. No first vCPU does, nor one of a guest that stays. */
static inline bool vm_is_seat(const struct vm *vm)
{
	return vm->seat != NULL;
}

/* The seats on this core, by the numbers of their vCPUs; NULL: there is none. */
extern struct vm *seat_vms[GANDALF_CPUS_MAXIMUM];

/* Returns whether a vCPU has left a core that it still counts as being on. */
bool seat_is_left(u32 core_index, u32 number);
/* Returns whether the vCPU of that seat, which is not here, is on its way to it. */
bool seat_is_expected(const struct vm *vm);
/* Returns to which core a message for a vCPU that this one does not have is to be sent: the one
 * that has it, or for which it has left here. */
u32 seat_core_ahead(const struct gandalf_guest *guest, u32 number);
/* Has the vCPU of this core's seat leave for the core in leaves_for, unless something forbids that:
 * who waits for it asks again. Interrupts are masked. */
void seat_depart(struct vm *vm);
/* The lower half of core_ran() of the vCPU that runs: for what time others have the core does not
 * count. */
u32 seat_clock(void);
/* Notes that a step of a vCPU's move, GANDALF_TICKS_..., has taken from that time of seat_clock()
 * until now. */
void seat_took(u32 kind, u32 number, u32 begin);
/* Asks the core that has a vCPU of the VM's guest to send it to another one, where it has a seat.
 * Returns 0 if it is there, and GANDALF_ERROR_BUSY until then. */
int seat_move(const struct vm *vm, u32 number, u32 to);
/* Has the vCPUs leave and arrive that are to. The idle vCPU calls it. */
void seats_settle(void);
