/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells files of core, which know VMs of one core, what is to be done where a guest is on several:
 * each of its vCPUs has a VM of its own on its core. The VM of the first stands for the whole, and
 * is loaded, started and stopped as every guest is. The others are its parts (core/part.h). In an
 * image for guests with one vCPU single/whole.h takes the place of this.
 */
#pragma once

#include "core/core.h"
#include "core/loan.h"
#include "core/steal.h"
#include "core/tenure.h"

/* Whether a guest's vCPUs move from CPU to CPU (core/migration.h). */
static inline bool guest_migrates(const struct gandalf_guest *guest)
{
	return (guest->flags & GANDALF_GUEST_MIGRATES) != 0;
}

/* Whether an action of control is on vCPUs of a guest, and not on the guest. */
static inline bool action_is_on_vcpu(u32 action)
{
	return action >= GANDALF_ACTION_MOVE && action <= GANDALF_ACTION_POLICY;
}
/* Does GANDALF_ACTION_MOVE to GANDALF_ACTION_POLICY (abi/control.h). Interrupts are masked. */
int part_act(const struct vm *vm, u32 action, u32 number, u32 cpu);

/* Returns whether the VM, which is this core's, is only a part of its guest. */
static inline bool vm_is_part(const struct vm *vm)
{
	return vm->number != 0;
}

/* Returns whether a VM only stands for a guest of another core (core/remote.h). */
static inline bool vm_is_remote(const struct vm *vm)
{
	return vm->number == PART_IS_REMOTE;
}

/* Notes which of its guest's vCPUs the VM at a place of the table is: the first one, or none. */
void part_describe(struct vm *vm);
/* Describes the VM of the next one that this core has; NULL: there is no other. */
struct vm *part_next(const struct vm *vm);
/* How many VMs this core knows: its own, and those that stand for guests of other cores. */
u32 vm_places(void);
/* For how long a vCPU keeps the core from others of its priority, in ticks. */
u32 turn_length(const struct vcpu *vcpu);
/* Of Linux's vCPUs, of whom `first` comes first: the one for which the VMM works, or that one. */
struct vcpu *turn_at_work(struct vcpu *first);
/* How many interrupts have come amid the VMM's work for vCPUs of a guest with several, and are not
 * done. Mostly there is none, and turn_at_work() need not look for such a vCPU. */
extern u32 works_interrupted;
/* Enclose an interrupt that comes amid the VMM's work for a vCPU. */
static inline void work_is_interrupted(const struct vcpu *vcpu)
{
	works_interrupted += vcpu->of_several;
}

static inline void work_goes_on(const struct vcpu *vcpu)
{
	works_interrupted -= vcpu->of_several;
}

/* How many vCPUs of a guest with several this core has (core/part.h). */
extern u32 parts_here;
/* Whether others that take turns with a vCPU are on this core. Who comes later does so as the idle
 * vCPU's work, and the vCPU that goes on behind that has its turn counted. */
static inline bool turn_has_others(const struct vcpu *vcpu)
{
	return !vcpu->of_several || parts_here > 1;
}
/* Who has the core, of whom `first` comes first. */
static inline struct vcpu *turn_holder(struct vcpu *first)
{
	if (linux_first != 0)
		first = linux_holder(first);
	return first->shares ? turn_at_work(first) : first;
}
/* Returns whether an interrupt has come amid the VMM's work for a vCPU of Linux that has siblings
 * here. What they share is half done then: the idle vCPU starts RTOSes only. */
static inline bool turn_is_at_work(void)
{
	return turn_at_work(&idle_vcpu) != &idle_vcpu;
}

/* Whether housekeeping is often other work than the start of a guest: with several vCPUs it is,
 * also while an RTOS has the core. Then it is worth the look (core/schedule.c). */
enum { HOUSEKEEPING_VARIES = 1 };

/* Has a function be called, with interrupts masked, when the turn of a Linux's vCPU ends. */
void turn_watch(void (*ends)(struct vm *vm));
/* The turn of a vCPU of this core ends. */
void turn_ends(const struct vcpu *vcpu);

/* Lets interrupts in for a vCPU of Linux that has got the core back, since whoever gave it the core
 * has had them masked until then. Returns whether it has to attend to what has come. */
MUST_CHECK bool turn_admits(const struct vcpu *vcpu);
/* The same for any vCPU: only one that has siblings lets any in. */
MUST_CHECK static inline bool turn_returns(const struct vcpu *vcpu)
{
	return vcpu->of_several && turn_admits(vcpu);
}

/* Notes at a switch whether an RTOS takes the core from Linux, or gives it back. */
static inline void whole_switches(const struct vcpu *from, const struct vcpu *to)
{
	steal_switches(from, to);
	if (from->priority == 0 && to->priority != 0)
		tenure_begins();
	else if (from->priority != 0 && to->priority == 0 && !loan_runs())
		tenure_ends();
}

/* Has the parts of guests on this core follow what has become of their whole, and the whole what
 * has become of them. The idle vCPU calls it. */
void parts_settle(void);

/* Has the parts of a guest paused with the whole, or resumed. Interrupts are masked. */
void whole_pauses(const struct vm *vm, bool paused);
/* Returns whether all parts of the guest's last life have ended, so that it can be loaded again. */
bool whole_may_start(const struct vm *vm);
/* Tells the whole that nothing of this part is left, if it has ended. */
void part_is_released(struct vm *vm);
/* Once the VMM has ended its work for it, has a part follow its whole, which is paused, resumed or
 * stopped, and a whole do what a failed part makes of it. Returns false if there is nothing of that
 * kind. Interrupts are masked. */
MUST_CHECK bool part_settles(struct vm *vm);
/* Has the whole do what on_fault says, since this part was stopped with a report. */
void part_fails(struct vm *vm);
/* The core of the vCPU whose report is the guest's: the one that was stopped last with a report. */
u32 whole_report_core(const struct vm *vm);
/* Notes that the whole itself has been stopped with a report. Interrupts are masked. */
void whole_fails(const struct vm *vm);
/* Ends a life of the guest, and so of all its parts, if this VM is the whole and goes down, or is
 * that of a core whose VMM does. Interrupts are masked. */
void whole_ends(struct vm *vm);
/* Tells the wholes of all parts that are here, were, or are on their way that none of these runs
 * any more: this core's VMM has stopped, and its outbox says so. */
void parts_give_up(void);
/* Hands a sign of life to the whole. Returns false if this VM is no part. Interrupts are masked. */
MUST_CHECK bool part_shows_life(const struct vm *vm);
