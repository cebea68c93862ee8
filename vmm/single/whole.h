/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says that a guest is on one core as a whole, in an image for guests with one vCPU.
 * several/whole.h documents these functions, and is for guests with several.
 */
#pragma once

#include "core/core.h"

static inline bool vm_is_remote(const struct vm *vm)
{
	return vm->guest->cpu != core.index;
}

static inline bool action_is_on_vcpu(UNUSED u32 action)
{
	return false;
}

static inline int part_act(UNUSED const struct vm *vm, UNUSED u32 action, UNUSED u32 number,
			   UNUSED u32 cpu)
{
	return GANDALF_ERROR_ARGUMENT;
}

static inline bool vm_is_part(UNUSED const struct vm *vm)
{
	return false;
}

static inline void part_describe(UNUSED struct vm *vm)
{
}

static inline struct vm *part_next(UNUSED const struct vm *vm)
{
	return NULL;
}

static inline u32 vm_places(void)
{
	return core.vm_count;
}

static inline u32 turn_length(UNUSED const struct vcpu *vcpu)
{
	return time_tsc_khz;
}

static inline struct vcpu *turn_holder(struct vcpu *first)
{
	return first;
}

static inline bool turn_is_at_work(void)
{
	return false;
}

static inline bool turn_returns(UNUSED const struct vcpu *vcpu)
{
	return false;
}

static inline void work_is_interrupted(UNUSED const struct vcpu *vcpu)
{
}

static inline void work_goes_on(UNUSED const struct vcpu *vcpu)
{
}

static inline void whole_switches(UNUSED const struct vcpu *from, UNUSED const struct vcpu *to)
{
}

static inline void parts_settle(void)
{
}

static inline void whole_pauses(UNUSED const struct vm *vm, UNUSED bool paused)
{
}

static inline bool whole_may_start(UNUSED const struct vm *vm)
{
	return true;
}

enum { HOUSEKEEPING_VARIES = 0 };

static inline bool turn_has_others(UNUSED const struct vcpu *vcpu)
{
	return true;
}

static inline void turn_ends(UNUSED const struct vcpu *vcpu)
{
}

static inline void part_is_released(UNUSED struct vm *vm)
{
}

static inline bool part_settles(UNUSED struct vm *vm)
{
	return false;
}

static inline void part_fails(UNUSED struct vm *vm)
{
}

static inline u32 whole_report_core(const struct vm *vm)
{
	return vm->guest->cpu;
}

static inline void whole_fails(UNUSED const struct vm *vm)
{
}

static inline void whole_ends(UNUSED struct vm *vm)
{
}

static inline void parts_give_up(void)
{
}

static inline bool part_shows_life(UNUSED const struct vm *vm)
{
	return false;
}
