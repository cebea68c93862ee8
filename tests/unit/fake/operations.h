/* SPDX-License-Identifier: Apache-2.0 */
/* What core asks of a guest of any kind in its life. The test defines the functions. */
#ifndef GANDALF_FAKE_OPERATIONS_H
#define GANDALF_FAKE_OPERATIONS_H

#include "core/vcpu.h"

static void operation_start(struct vcpu *vcpu);
static void operation_stop(struct vcpu *vcpu);
static void operation_release(struct vcpu *vcpu);
static u32 operation_instruction(struct vcpu *vcpu, u8 *bytes, u32 size);

static const struct vcpu_operations operations = {
	.instruction = operation_instruction,
	.start = operation_start,
	.stop = operation_stop,
	.release = operation_release,
};

#endif
