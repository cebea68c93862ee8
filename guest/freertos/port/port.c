/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS on the Gandalf VMM. This file has the first stack of a task, the interrupt handlers and
 * the tick; port.S has the context switch. The port needs the hypercalls for handlers, interrupt
 * flag and timer. The idle hook of the application calls the one that halts.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

/* The vectors go from the first interrupt of the 8259 pair to the doorbell. */
#define PORT_VECTORS (GANDALF_VECTOR_DOORBELL - GANDALF_VECTOR_IRQ + 1)
/* In port.S so many bytes lie between the beginnings of two entries. */
#define PORT_ENTRY_SIZE 16
/* Bit 1 of EFLAGS is always set. IF is the VMM's, so it is not here. */
#define PORT_INITIAL_EFLAGS 0x2
/* MXCSR lies here in the area that FXSAVE writes. Its first value masks all exceptions. */
#define PORT_MXCSR_OFFSET 24
#define PORT_MXCSR_INITIAL 0x1f80
/* CPUID's leaf 1 says in EDX whether the CPU has FXSAVE (SDM vol. 2, CPUID). */
#define PORT_CPUID_FXSR (1u << 24)
/* Where the CPU has no FXSAVE, pointers to floating-point areas have this bit set, and port.S uses
 * FNSAVE. Areas are aligned to 16. */
#define PORT_FNSAVE 1
/* The size is in words. The deepest handler is a tick that wakes tasks; it takes some 200 bytes. */
#define PORT_STACK_SIZE 512

_Static_assert(offsetof(struct gandalf_shared, interrupt_flag) == 0, "port.S relies on it");
_Static_assert(offsetof(struct gandalf_shared, pending) == 8, "port.S relies on it");

/* These are in port.S. */
extern const char port_interrupt_entries[];
void port_restore_context(void) __attribute__((noreturn));
void port_interrupt(uint32_t index);
void port_task_returned(void);

BaseType_t port_switch_wanted;
/* The running task's floating-point state goes to this address, plus PORT_FNSAVE if that is how it
 * is saved. It is 0 if the task has none. */
uint32_t port_floating_point;
StackType_t port_stack[PORT_STACK_SIZE] __attribute__((aligned(16)));
StackType_t *const port_stack_top = port_stack + PORT_STACK_SIZE;

static void (*port_handlers[PORT_VECTORS])(void);
/* Counts expiries that were merged into later ones and have been made up for. */
static uint32_t port_overruns;

StackType_t *pxPortInitialiseStack(StackType_t *top, TaskFunction_t code, void *parameters)
{
	uint16_t code_selector;

	__asm__("movw %%cs, %0" : "=r"(code_selector));
	/* The task is entered as if called with ESP + 4 a multiple of 16. */
	top = (StackType_t *)((uint32_t)top & ~15U) - 4;
	*top = (StackType_t)parameters;
	*--top = (StackType_t)port_task_returned; /* port.S */
	*--top = PORT_INITIAL_EFLAGS;
	*--top = code_selector;
	*--top = (StackType_t)code;
	for (unsigned int registers = 8; registers; registers--)
		*--top = 0;
	*--top = GANDALF_INTERRUPT_FLAG;
	*--top = 0; /* no floating point yet */
	return top;
}

/* Serves the tick. A guest that was kept from its CPU gets all ticks that it missed at once, so
 * that the kernel's clock stays right. Returns whether another task is to run. */
static inline BaseType_t port_tick(void)
{
	BaseType_t wanted = xTaskIncrementTick();

	for (; port_overruns != shared_page->timer_overruns; port_overruns++)
		wanted |= xTaskIncrementTick();
	return wanted;
}

/* Serves an interrupt. port.S calls it on the port's own stack and has saved the task's context.
 * The tick is a part of every dispatch, so it is called directly. */
void port_interrupt(uint32_t index)
{
	BaseType_t wanted = pdFALSE;

	port_switch_wanted = pdFALSE;
	if (index == GANDALF_VECTOR_TIMER - GANDALF_VECTOR_IRQ)
		wanted = port_tick();
	else
		port_handlers[index]();
	if (wanted | port_switch_wanted)
		vTaskSwitchContext();
}

void vPortSetInterruptHandler(uint32_t vector, void (*handler)(void))
{
	configASSERT(vector - GANDALF_VECTOR_IRQ < PORT_VECTORS && vector != GANDALF_VECTOR_TIMER);
	port_handlers[vector - GANDALF_VECTOR_IRQ] = handler;
}

static uint32_t port_cpu_has_fxsave(void)
{
	uint32_t a = 1, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d & PORT_CPUID_FXSR;
}

void vPortTaskUsesFloatingPoint(struct port_floating_point *area)
{
	uint32_t fxsave = port_cpu_has_fxsave();

	taskENTER_CRITICAL();
	__asm__ volatile("fninit");
	if (fxsave) {
		__asm__ volatile("fxsave %0" : "=m"(*area));
		/* FNINIT leaves MXCSR as the last task had it. */
		memcpy(area->state + PORT_MXCSR_OFFSET, &(uint32_t){ PORT_MXCSR_INITIAL }, 4);
		__asm__ volatile("fxrstor %0" : : "m"(*area));
	}
	port_floating_point = (uint32_t)area | (fxsave ? 0 : PORT_FNSAVE);
	taskEXIT_CRITICAL();
}

BaseType_t xPortStartScheduler(void)
{
	static struct gandalf_handlers table;

	for (uint32_t i = 0; i < PORT_VECTORS; i++)
		if (port_handlers[i] || i == GANDALF_VECTOR_TIMER - GANDALF_VECTOR_IRQ)
			table.entry[GANDALF_VECTOR_IRQ + i] =
				(uint32_t)port_interrupt_entries + i * PORT_ENTRY_SIZE;
	handlers_register(&table);
	timer_start(1000000 / configTICK_RATE_HZ);
	port_restore_context();
}

void vPortEndScheduler(void)
{
	guest_halt(); /* there is nothing to go back to */
}
