/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how much of the current VMM stack is used. */
#include "stack_state.h"

#include "arch/ia32/layout.h"
#include "core/core.h"
#include "core/log.h"
#include "core/pool.h"

#define STACK_SIZE (2 * PAGE_SIZE)

extern u8 boot_stack_top[];

/* Returns the address behind the stack, which is at least as long as the boot stack. */
static u32 stack_end(const struct vcpu *vcpu)
{
	if (vcpu == &idle_vcpu)
		return (u32)boot_stack_top;
	if (vcpu->table_frame != 0)
		return LAYOUT_STACK_TOP;
	return (u32)pool_pointer(vcpu->stack_frames[1]) + PAGE_SIZE;
}

/* A guest that has this CPU is worked for on stacks of its own (guests/x86/upcall.c), which are
 * elsewhere. */
void stack_check(const struct vcpu *vcpu)
{
	u32 used = stack_end(vcpu) - (u32)__builtin_frame_address(0);

	if (used > STACK_USED_MAXIMUM && used <= STACK_SIZE)
		panic("vCPU %x has used %u bytes of its VMM stack", vcpu->id, used);
}
