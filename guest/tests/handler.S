/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the test guests' handlers: they bring every frame that the ABI
 * promises into one form (struct handler_frame) and call handler_run() with it.
 *
 *	+56	EFLAGS
 *	+52	CS
 *	+48	EIP		down to here by the VMM
 *	+44	error code	by the VMM, or 0
 *	+40	vector
 *	+36	DS
 *	+32	ES
 *	ESP	EAX ECX EDX EBX ESP EBP ESI EDI (top to bottom; PUSHA)
 */
#include "gandalf.h"

#define SHARED_INTERRUPT_FLAG 0
#define SHARED_PENDING 8
/* Exceptions 8, 10 to 14 and 17: the CPU pushes an error code. */
#define WITH_ERROR_CODE 0x27d00

	.text
	.balign	16
	.globl	handler_entries
handler_entries:
	.set	vector, 0
	.rept	GANDALF_VECTORS
	.balign	16
	.if	vector > 31
	pushl	$0
	.elseif	((WITH_ERROR_CODE >> vector) & 1) == 0
	pushl	$0
	.endif
	pushl	$vector
	jmp	handler_common
	.set	vector, vector + 1
	.endr

handler_common:
	pushl	%ds
	pushl	%es
	pushal
	movl	$GANDALF_RTOS_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	cld
	pushl	%esp
	call	handler_run		/* the interrupt flag to return with */
	addl	$4, %esp
	movl	shared_page, %ecx
	movl	%eax, SHARED_INTERRUPT_FLAG(%ecx)
	testl	%eax, %eax
	jz	1f
	cmpl	$0, SHARED_PENDING(%ecx)
	je	1f
	movl	%eax, %ebx
	movl	$GANDALF_HYPERCALL_INTERRUPT_FLAG, %eax
	int	$GANDALF_HYPERCALL_VECTOR
1:	popal
	popl	%es
	popl	%ds
	addl	$8, %esp
	iret

	.section .note.GNU-stack, "", @progbits
