/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the address space of an RTOS, and serves its page faults (two_level/rtos_space.h). */
#include "rtos_space.h"

#include "arch/ia32/memory.h"
#include "core/pool.h"
#include "core/trace.h"
#include "guests/rtos/rtos.h"
#include "lib/string.h"

#define ENTRIES 1024u

/* Returns the entry of the VMM's own mapping of a page of an RTOS's memory. */
static u32 mapped_entry(u32 linear)
{
	u32 table = memory_directory[linear >> LARGE_PAGE_SHIFT] & PTE_FRAME;
	const u32 *entries = pool_pointer(table);

	return entries[(linear >> PAGE_SHIFT) % ENTRIES];
}

/* Returns the entry of the space for a page, in whose page table it is, or NULL if the pool has no
 * frame for that table. */
static u32 *space_entry(u32 *directory, u32 address)
{
	u32 *entry = &directory[address >> LARGE_PAGE_SHIFT];
	u32 *table;

	if (*entry == 0) {
		*entry = pool_allocate();
		if (*entry == 0)
			return NULL;
		*entry |= PTE_P | PTE_W | PTE_U | PTE_A;
	}
	table = pool_pointer(*entry & PTE_FRAME);
	return &table[(address >> PAGE_SHIFT) % ENTRIES];
}

bool rtos_space_create(struct vm *vm)
{
	u32 end = vm->guest->memory_size + vm->vcpus->rtos->channel_bytes;
	u32 frame = pool_allocate();
	u32 *entry;

	if (frame == 0)
		return false;
	vm->vcpus->cr3 = frame;
	for (u32 address = 0; address < end; address += PAGE_SIZE) {
		entry = space_entry(pool_pointer(frame), address);
		if (entry == NULL)
			return false;
		/* The address is another page in another space, so none is global. */
		*entry = (mapped_entry(vm->linear + address) & PTE_FRAME) |
			 PTE_P | PTE_W | PTE_U | PTE_A | PTE_D;
	}
	return true;
}

void rtos_space_start(struct vcpu *vcpu)
{
	u32 *directory = pool_pointer(vcpu->cr3);

	memcpy(&directory[LAYOUT_DIRECTORY_FIRST], &memory_directory[LAYOUT_DIRECTORY_FIRST],
	       (ENTRIES - LAYOUT_DIRECTORY_FIRST) * sizeof(u32));
}

/* Without a handler the report says what was touched, which no segment limit has told. */
void rtos_space_page_fault(struct vcpu *vcpu, struct frame *frame)
{
	vcpu->shared->cr2 = vcpu->fault_address;
	if (vcpu->rtos->handlers[EXCEPTION_PF] != 0) {
		vcpu->operations->trap(vcpu, frame);
		return;
	}
	trace(TRACE_trap, frame->vector, frame->eip);
	vm_stop(vcpu->vm, "page fault (#PF) without a handler: it %s %x",
		(frame->error & PF_W) != 0 ? "writes" : "reads", vcpu->fault_address);
}
