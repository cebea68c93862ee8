/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uITRON on a bare PC: from boot.S to the first task.
 */
#include "machine.h"

#include "interrupt.h"
#include "port.h"
#include "print.h"
#include "schedule.h"
#include "system.h"

#define CODE 0x08
#define GATE_INTERRUPT 0x8e00 /* present, ring 0, 32 bits, clears the flag */
#define VECTORS (TMIN_INHNO + 16)

#define CPUID_FXSR (1U << 24)
#define CR0_MONITOR 0x2
#define CR0_EMULATION 0x4
#define CR0_NUMERIC_ERROR 0x20
#define CR4_FXSR 0x200
#define CR4_SIMD_EXCEPTIONS 0x400

/* An interrupt gate (SDM vol. 3, section 6.11). */
struct gate {
	UH offset_low, selector, kind, offset_high;
};

static struct gate idt[VECTORS];

static void gate_set(UINT vector, UINT entry)
{
	UW offset = (UW)context_entries + entry * CONTEXT_ENTRY_SIZE;

	idt[vector] = (struct gate){ (UH)offset, CODE, GATE_INTERRUPT, (UH)(offset >> 16) };
}

/* An exception that nobody handles is the end. */
static void exception_report(T_EXCINF *information)
{
	print("exception %u, error code %x, at %08x; task %d runs\n", information->excno,
	      information->error_code, information->eip, task_id(running));
	for (;;)
		__asm__ volatile("cli; hlt");
}

static void gates_init(void)
{
	struct {
		UH limit;
		UW base;
	} __attribute__((packed)) idt_register = { sizeof(idt) - 1, (UW)idt };

	for (UINT vector = 0; vector < VECTORS; vector++) {
		if (vector < TMIN_INHNO)
			interrupt_handlers[vector] = (FP)exception_report;
		gate_set(vector, vector);
	}
	gate_set(INHNO_IRQ(LINE_TIMER), INHNO_TIMER);
	gate_set(INHNO_IRQ(LINE_CONSOLE), INHNO_CONSOLE);
	__asm__ volatile("lidt %0" : : "m"(idt_register));
}

/* Lets x87 and SSE work, where there is FXSAVE to keep them. */
static void floating_point_init(void)
{
	UW a = 1, b, c, d, register_value;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	if (!(d & CPUID_FXSR))
		return;
	__asm__ volatile("movl %%cr0, %0" : "=r"(register_value));
	register_value = (register_value & ~(UW)CR0_EMULATION) | CR0_MONITOR | CR0_NUMERIC_ERROR;
	__asm__ volatile("movl %0, %%cr0" : : "r"(register_value));
	__asm__ volatile("movl %%cr4, %0" : "=r"(register_value));
	register_value |= CR4_FXSR | CR4_SIMD_EXCEPTIONS;
	__asm__ volatile("movl %0, %%cr4" : : "r"(register_value));
}

void port_start(void)
{
	for (UINT line = 0; line < VECTORS - TMIN_INHNO; line++)
		if (interrupt_handlers[INHNO_IRQ(line)])
			pic_unmask(line);
	if (interrupt_handlers[INHNO_CONSOLE]) {
		uart_input_enable();
		pic_unmask(LINE_CONSOLE);
	}
	pic_unmask(LINE_TIMER);
	port_floating_point_switch(NULL, running->floating_point);
	port_restore();
}

void machine_start(void)
{
	uart_init();
	gates_init();
	floating_point_init();
	timer_init();
	pic_init(); /* forgets the ticks of the measurement */
	kernel_start();
}
