/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context switch of FreeRTOS on the Gandalf VMM. Interrupt and yield leave the same frame on
 * the stack of the task, so that one path restores both:
 *
 *	+48	EFLAGS		by the VMM, or by portYIELD()
 *	+44	CS
 *	+40	EIP
 *	 +8	EAX ECX EDX EBX ESP EBP ESI EDI (top to bottom; PUSHA)
 *	 +4	interrupt flag of the task
 *	ESP	its struct port_floating_point, or 0; plus PORT_FNSAVE on a CPU without FXSAVE
 */
#include "gandalf.h"

#define SHARED_INTERRUPT_FLAG 0
#define SHARED_PENDING 8
#define PORT_VECTORS (GANDALF_VECTOR_DOORBELL - GANDALF_VECTOR_IRQ + 1)
#define PORT_FNSAVE 1 /* as in port.c */

/* Completes the frame above, whose registers have been pushed. It pushes the interrupt flag, which
 * is in EAX, saves the floating-point state, and stores ESP in the first field of the task's
 * control block. */
.macro save_context
	pushl	%eax
	movl	port_floating_point, %eax
	pushl	%eax
	testl	%eax, %eax
	jz	9f
	testb	$PORT_FNSAVE, %al
	jnz	8f
	fxsave	(%eax)
	jmp	9f
8:	fnsave	-PORT_FNSAVE(%eax)
9:	movl	pxCurrentTCB, %eax
	movl	%esp, (%eax)
.endm

	.cfi_sections .debug_frame
	.text
/* Each vector has an entry of 16 bytes, on the task's stack. The VMM has set the flag to 0. */
	.balign	16
	.globl	port_interrupt_entries
port_interrupt_entries:
	.set	index, 0
	.rept	PORT_VECTORS
	.balign	16
	pushal
	movl	$index, %ebx
	jmp	port_interrupt_common
	.set	index, index + 1
	.endr

port_interrupt_common:
	cld
	movl	$GANDALF_INTERRUPT_FLAG, %eax	/* it was set, or no interrupt had come */
	save_context
	/*
	 * The port's own stack for port_interrupt(), highest address first:
	 *	(port_stack_top)
	 *	12 bytes unused
	 *	index, the argument, on a multiple of 16
	 *	return address	<- ESP
	 */
	movl	port_stack_top, %esp
	subl	$12, %esp
	pushl	%ebx
	call	port_interrupt
	jmp	port_restore_context

	.globl	port_yield
	.type	port_yield, @function
port_yield:
	pushal
	movl	shared_page, %ebx
	movl	SHARED_INTERRUPT_FLAG(%ebx), %eax
	movl	$0, SHARED_INTERRUPT_FLAG(%ebx)
	save_context
	call	vTaskSwitchContext

	.globl	port_restore_context
	.type	port_restore_context, @function
port_restore_context:
	movl	pxCurrentTCB, %eax
	movl	(%eax), %esp
	popl	%eax
	movl	%eax, port_floating_point
	testl	%eax, %eax
	jz	1f
	testb	$PORT_FNSAVE, %al
	jnz	4f
	fxrstor	(%eax)
1:	popl	%ebx
	movl	shared_page, %ecx
	movl	%ebx, SHARED_INTERRUPT_FLAG(%ecx)
	testl	%ebx, %ebx
	jz	2f
	cmpl	$0, SHARED_PENDING(%ecx)
	jne	3f
2:	popal
	iret
	/* An interrupt that waits is delivered here, or behind the IRET. */
3:	movl	$GANDALF_HYPERCALL_INTERRUPT_FLAG, %eax
	int	$GANDALF_HYPERCALL_VECTOR
	jmp	2b
4:	frstor	-PORT_FNSAVE(%eax)
	jmp	1b

	/* Where a task returns to, which it must not: the VMM reports the #UD. A debugger looks a
	 * return address up one byte before it, hence the NOP, and ends its backtrace here. */
	.type	port_task_end, @function
port_task_end:
	.cfi_startproc
	.cfi_undefined eip
	nop
	.globl	port_task_returned
port_task_returned:
	ud2
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
