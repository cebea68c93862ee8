/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptor tables of the PC test guest. The GDT has a page to itself, as in
 * Linux, so that the VMM can protect it against writes.
 */
#include "machine.h"

struct table_register {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

extern const char trap_stubs[];
extern char trap_stack_top[];

#define GATE_INTERRUPT 0x8e
#define GATE_DPL_3 0x60

union gdt_page gdt_page __attribute__((aligned(4096)));
struct descriptor idt[IDT_ENTRIES] __attribute__((aligned(4096)));
struct task_state task_state __attribute__((aligned(128)));

struct descriptor descriptor_make(uint32_t base, uint32_t limit, uint8_t type, uint8_t flags)
{
	return (struct descriptor){
		.low = (limit & 0xffff) | base << 16,
		.high = (base >> 16 & 0xff) | (uint32_t)type << 8 | (limit & 0xf0000) |
			(uint32_t)flags << 20 | (base & 0xff000000),
	};
}

static void flat(uint32_t selector, uint8_t type)
{
	gdt[selector / 8] = descriptor_make(0, 0xfffff, type, DESCRIPTOR_PAGES);
}

void gdt_register_load(void)
{
	const struct table_register gdtr = { sizeof(gdt) - 1, (uint32_t)gdt };

	__asm__ volatile("lgdt %0" : : "m"(gdtr) : "memory");
}

void gdt_load(void)
{
	flat(BOOT_CODE, DESCRIPTOR_CODE(0));
	flat(BOOT_DATA, DESCRIPTOR_DATA(0));
	flat(KERNEL_CODE, DESCRIPTOR_CODE(0));
	flat(KERNEL_DATA, DESCRIPTOR_DATA(0));
	flat(USER_CODE, DESCRIPTOR_CODE(3));
	flat(USER_DATA, DESCRIPTOR_DATA(3));
	flat(ABSENT_DATA, DESCRIPTOR_DATA(0) & 0x7f);
	flat(PER_CPU, DESCRIPTOR_DATA(0));
	gdt_register_load();
}

void segments_load(void)
{
	__asm__ volatile("ljmp %0, $1f\n"
			 "1:\tmovl %1, %%ss\n\tmovl %2, %%ds\n\tmovl %2, %%es\n\t"
			 "movl %3, %%fs\n\tmovl %3, %%gs"
			 :
			 : "i"(KERNEL_CODE), "r"(KERNEL_DATA), "r"(USER_DATA), "r"(0)
			 : "memory");
}

static void gate_set(uint32_t vector, uint32_t stub, uint32_t dpl)
{
	uint32_t handler = (uint32_t)trap_stubs + stub * TRAP_STUB_SIZE;

	idt[vector].low = (handler & 0xffff) | KERNEL_CODE << 16;
	idt[vector].high = (handler & 0xffff0000) | (GATE_INTERRUPT | dpl) << 8;
}

void idt_register_load(void)
{
	const struct table_register idtr = { sizeof(idt) - 1, (uint32_t)idt };

	__asm__ volatile("lidt %0" : : "m"(idtr) : "memory");
}

void idt_open_by(uint32_t vector, uint32_t stub)
{
	gate_set(vector, stub, 0);
	idt_register_load();
}

void idt_open(uint32_t vector)
{
	idt_open_by(vector, vector);
}

void idt_load(void)
{
	for (uint32_t vector = 0; vector < VECTOR_MORE; vector++)
		gate_set(vector, vector,
			 vector == VECTOR_BP || vector == VECTOR_OF ? GATE_DPL_3 : 0);
	gate_set(VECTOR_SYSTEM_CALL, TRAP_STUBS, GATE_DPL_3);
	idt_register_load();
}

void task_load(void)
{
	task_state = (struct task_state){
		.esp0 = (uint32_t)trap_stack_top,
		.ss0 = KERNEL_DATA,
		.io_map = sizeof(task_state) << 16, /* none */
	};
	gdt[TASK_STATE / 8] = descriptor_make((uint32_t)&task_state, sizeof(task_state) - 1,
					      DESCRIPTOR_TASK, 0);
	__asm__ volatile("ltr %w0" : : "r"(TASK_STATE) : "memory");
}

void tables_load(void)
{
	gdt_load();
	segments_load();
	idt_load();
	task_load();
}
