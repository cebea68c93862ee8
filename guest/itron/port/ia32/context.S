/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher. Interrupts, CPU exceptions and port_dispatch() leave the same frame on the
 * stack of the task, so that one path restores them all:
 *
 *	+48	EFLAGS
 *	+44	CS
 *	+40	EIP
 *	+36	error code, or 0
 *	+32	address behind the entry's CALL, which tells the vector
 *	ESP	EAX ECX EDX EBX ESP EBP ESI EDI (top to bottom; PUSHA)
 *
 * The interrupt flag of a task that is restored is what the kernel's state says: 0 if the CPU
 * is locked. port_asm.h says how to set it, and where the stack of the handlers is.
 */
#include "port_asm.h"

/* Exceptions 8, 10 to 14 and 17: the CPU pushes an error code. */
#define WITH_ERROR_CODE 0x27d00
#define ENTRIES 51

	.text
	.balign	8
	.globl	context_entries
context_entries:
	.set	vector, 0
	.rept	ENTRIES
	.balign	8
	.if	vector > 31 || ((WITH_ERROR_CODE >> vector) & 1) == 0
	pushl	$0
	.endif
	call	context_save
	.set	vector, vector + 1
	.endr

context_save:
	pushal
	cld
	movl	%esp, %ebx
	cmpb	$0, handler_runs
	jne	1f
	movl	running, %eax
	movl	%esp, (%eax)		/* its first field */
	stack_of_handlers
	subl	$12, %esp		/* the argument on a multiple of 16 */
	pushl	%ebx
	call	context_interrupt
	jmp	port_restore

	/* An exception in a handler, which goes on with the flag 0. */
1:	andl	$-16, %esp
	subl	$12, %esp
	pushl	%ebx
	call	context_interrupt
	movl	%ebx, %esp
	jmp	2f

	.globl	port_dispatch
	.type	port_dispatch, @function
port_dispatch:
	popl	%eax
	pushfl
	flag_in_frame
	pushl	%cs
	pushl	%eax
	subl	$8, %esp
	pushal
	movl	running, %eax
	movl	%esp, (%eax)
	stack_of_handlers
	call	schedule
	jmp	port_restore

	.globl	port_exit
	.type	port_exit, @function
port_exit:
	stack_of_handlers
	call	task_end

	.globl	port_restore
	.type	port_restore, @function
port_restore:
	movl	running, %eax
	movl	(%eax), %ebx
	movl	%ebx, %esp
	andl	$-16, %esp
	call	exception_deliver
	movl	%ebx, %esp
	flag_restore
2:	popal
	addl	$8, %esp
	iret

	/* Where a task returns to, as if it ended by a call of ext_tsk(). A debugger looks a return
	 * address up one byte before it, hence the NOP, and ends its backtrace here. */
	.cfi_sections .debug_frame
	.type	context_task_end, @function
context_task_end:
	.cfi_startproc
	.cfi_undefined eip
	nop
	.globl	context_task_returned
context_task_returned:
	jmp	ext_tsk
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
