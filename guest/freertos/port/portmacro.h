/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS on the Gandalf VMM. The kernel includes this file, which has types, interrupt flag and
 * yield. FreeRTOS prescribes the names.
 */
#ifndef PORTMACRO_H
#define PORTMACRO_H

#include "rtos.h"

typedef uint32_t StackType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;

#define portSTACK_TYPE StackType_t
#define portBASE_TYPE BaseType_t
#define portMAX_DELAY ((TickType_t)0xffffffff)
#define portTICK_TYPE_IS_ATOMIC 1
#define portTICK_PERIOD_MS ((TickType_t)1000 / configTICK_RATE_HZ)
#define portSTACK_GROWTH (-1)
#define portBYTE_ALIGNMENT 16
#define portPOINTER_SIZE_TYPE uint32_t

/* Bit n is set while a task of priority n is ready. */
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define portRECORD_READY_PRIORITY(priority, ready) (ready) |= 1UL << (priority)
#define portRESET_READY_PRIORITY(priority, ready) (ready) &= ~(1UL << (priority))
#define portGET_HIGHEST_PRIORITY(highest, ready) \
	(highest) = 31UL - (UBaseType_t)__builtin_clzl(ready)

/* Each is a store. The VMM is entered only when an interrupt waits. */
#define portDISABLE_INTERRUPTS() interrupt_disable()
#define portENABLE_INTERRUPTS() interrupt_enable()

/* The kernel counts the nesting in the task's control block, so that a task may yield inside a
 * critical section. */
#define portCRITICAL_NESTING_IN_TCB 1
#define portENTER_CRITICAL() vTaskEnterCritical()
#define portEXIT_CRITICAL() vTaskExitCritical()
void vTaskEnterCritical(void);
void vTaskExitCritical(void);

/* Handlers run with the flag 0 and do not nest, so nothing is left to mask. */
#define portSET_INTERRUPT_MASK_FROM_ISR() 0
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(mask) ((void)(mask))

/* Leaves on the stack what an interrupt would (port.S draws it). */
#define portYIELD() \
	__asm__ volatile("pushfl\n\tpushl %%cs\n\tcall port_yield" : : : "memory", "cc")

/* In a handler this asks for a switch, which is made when the handler has returned. */
extern BaseType_t port_switch_wanted;
#define portEND_SWITCHING_ISR(wanted) \
	do { \
		if (wanted) \
			port_switch_wanted = pdTRUE; \
	} while (0)
#define portYIELD_FROM_ISR(wanted) portEND_SWITCHING_ISR(wanted)

#define portTASK_FUNCTION_PROTO(function, parameters) void function(void *parameters)
#define portTASK_FUNCTION(function, parameters) void function(void *parameters)
#define portNOP() __asm__ volatile("nop")
#define portMEMORY_BARRIER() __asm__ volatile("" : : : "memory")

/* FXSAVE writes so many bytes, which are aligned to 16, and FNSAVE fewer. */
#define portFLOATING_POINT_SIZE 512
struct port_floating_point {
	uint8_t state[portFLOATING_POINT_SIZE] __attribute__((aligned(16)));
};

/*
 * Lets the calling task use x87 and SSE from here on. At every switch its registers are kept in
 * *area, which belongs to the port until the task is deleted. A task that never calls this must not
 * use these registers.
 */
void vPortTaskUsesFloatingPoint(struct port_floating_point *area);

/*
 * Registers the handler of one of the VMM's vectors GANDALF_VECTOR_IRQ to GANDALF_VECTOR_DOORBELL,
 * but for the timer's, which is the tick. It must be called before the scheduler starts. The
 * handler runs on the port's own stack and may call the kernel's FromISR functions.
 */
void vPortSetInterruptHandler(uint32_t vector, void (*handler)(void));

#endif
