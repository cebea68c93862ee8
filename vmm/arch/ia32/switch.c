/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the VMM stacks of vCPUs, which the switch between them changes, and leads to the boot
 * stack.
 */
#include "arch/ia32/switch.h"

#include "arch/ia32/entry.h"
#include "core/pool.h"
#include "lib/string.h"

/* The end of the idle vCPU's stack (boot.S). */
extern u8 boot_stack_top[];

/* Returns the linear address behind the vCPU's VMM stack. Linux's stack is at the same address in
 * each of its own spaces; an RTOS's is where every space maps the pool. */
static u32 stack_top(const struct vcpu *vcpu)
{
	if (vcpu->table_frame != 0)
		return LAYOUT_STACK_TOP;
	return (u32)pool_pointer(vcpu->stack_frames[1]) + PAGE_SIZE;
}

bool switch_create(struct vcpu *vcpu)
{
	u32 *table = pool_pointer(vcpu->table_frame);

	for (u32 i = 0; i < ARRAY_SIZE(vcpu->stack_frames); i++) {
		u32 frame = pool_allocate();

		if (frame == 0)
			return false;
		vcpu->stack_frames[i] = frame;
		if (vcpu->table_frame != 0)
			table[((LAYOUT_STACK - LAYOUT_VCPU) >> PAGE_SHIFT) + i] =
				frame | PTE_P | PTE_W | PTE_A | PTE_D;
	}
	return vcpu->table_frame != 0 ||
	       vcpu->stack_frames[1] == vcpu->stack_frames[0] + PAGE_SIZE;
}

struct frame *switch_prepare(struct vcpu *vcpu)
{
	u32 top = stack_top(vcpu);
	/*
	 * The stack, highest address first, as if the vCPU had once called switch_stack():
	 *	the frame, all 0		<- vcpu->frame
	 *	entry_return, to which it returns	<- vcpu->saved_esp
	 * It is written by way of the pool, since another address space is loaded.
	 */
	u8 *page_top = (u8 *)pool_pointer(vcpu->stack_frames[1]) + PAGE_SIZE;
	u8 *frame = page_top - sizeof(struct frame);
	u32 *stack = (u32 *)frame - 1;

	memset(stack, 0, (u32)(page_top - (u8 *)stack));
	*stack = (u32)entry_return;
	vcpu->saved_esp = top - (u32)(page_top - (u8 *)stack);
	vcpu->frame = (struct frame *)(top - sizeof(struct frame));
	vcpu->tables->tss.esp0 = top;
	return (struct frame *)frame;
}

struct frame *switch_frame(const struct vcpu *vcpu)
{
	u32 linear = (u32)vcpu->frame;
	const u32 *table = pool_pointer(vcpu->table_frame);

	if (vcpu->table_frame == 0)
		return vcpu->frame;
	return (struct frame *)((u32)pool_pointer(table[(linear - LAYOUT_VCPU) >> PAGE_SHIFT] &
						  PTE_FRAME) + linear % PAGE_SIZE);
}

void switch_to_boot_stack(void (*function)(void))
{
	core.cr3 = idle_vcpu.cr3;
	stack_leave(boot_stack_top, core.cr3, function);
}
