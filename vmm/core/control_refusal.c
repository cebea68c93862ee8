/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a guest that asks for control of others and may not have it. It is a file of its own
 * because images without control need it, too (without/control.c).
 */
#include "core/control.h"

#include "core/schedule.h"
#include "core/work.h"

u32 control_refuse(struct vcpu *vcpu)
{
	work_mask(control_refusal);
	if (vcpu->counters[COUNTER_refusals]++ == 0) {
		vcpu->vm->refused = true;
		schedule_housekeeping(HOUSEKEEPING_RELEASE);
	}
	return (u32)GANDALF_ERROR_PERMISSION;
}
