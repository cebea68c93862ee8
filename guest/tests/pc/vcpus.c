/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the vCPUs of a test kernel that has several, and has them interrupt each other. */
#include "vcpus.h"

#define APIC_PAGE 8U /* of SCRATCH */
#define STACK_SIZE 16384U

static uint8_t stacks[VCPUS_MAXIMUM][STACK_SIZE] __attribute__((aligned(PAGE_SIZE)));
/* What the vCPU that begins takes for its stack and executes. */
uint8_t *volatile vcpu_stack_top;
static void (*volatile vcpu_begins)(void);

void vcpu_main(void);
extern const char vcpu_entry[];
__asm__("	.text\n"
	"	.globl	vcpu_entry\n"
	"vcpu_entry:\n"
	"	movl	vcpu_stack_top, %esp\n"
	"	xorl	%ebp, %ebp\n"
	"	cld\n"
	"	call	vcpu_main\n");

volatile uint32_t *apic_register(uint32_t offset)
{
	return (volatile uint32_t *)(SCRATCH + APIC_PAGE * PAGE_SIZE + offset);
}

uint32_t own_index(void)
{
	return *apic_register(APIC_ID) >> 24;
}

int32_t ipi_send(uint32_t ids, uint32_t ipi)
{
	return hypercall(GANDALF_HYPERCALL_IPI, ids, GANDALF_IPI_FIRST + ipi, 0);
}

uint64_t milliseconds(uint32_t count)
{
	return (uint64_t)SHARED_PAGE->tsc_khz * count;
}

/* Interrupts come at any time, and end as they are delivered. */
static void apic_begin(void)
{
	*apic_register(GANDALF_APIC_AUTOMATIC_END) = 1;
	*apic_register(APIC_SPURIOUS) = 0x1ff;
	irq_enable();
}

void vcpus_begin(void (*handler)(struct trap_frame *frame))
{
	more_hook = handler;
	tables_load();
	for (uint32_t i = 0; i < IPIS; i++)
		idt_open_by(GANDALF_IPI_FIRST + i, VECTOR_MORE + i);
	pic_init();
	pic_unmask(0);
	paging_enable();
	scratch_map(APIC_PAGE, (void *)GANDALF_APIC_BASE, PAGE_P | PAGE_W);
	pages_flush(page_directory, 0, 0xffffffff);
	apic_begin();
}

void vcpu_main(void)
{
	gdt_register_load();
	segments_load();
	idt_register_load();
	paging_begin();
	apic_begin();
	vcpu_begins();
}

int32_t vcpu_start(uint32_t index, void (*begin)(void))
{
	vcpu_stack_top = stacks[index] + STACK_SIZE;
	vcpu_begins = begin;
	return hypercall(GANDALF_HYPERCALL_START_CPU, index, (uint32_t)vcpu_entry, 0);
}
