/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Gandalf port's part of context.S.
 */
#include "gandalf.h"

#define SHARED_INTERRUPT_FLAG 0
#define SHARED_PENDING 8

/* Where the VMM has put it: it ends with the page below the shared one. */
.macro stack_of_handlers
	movl	shared_page, %esp
.endm

/* The flag is not in EFLAGS. */
.macro flag_in_frame
.endm

/* What waits interrupts the task here, or behind the IRET. */
.macro flag_restore
	cmpb	$0, cpu_locked
	jne	9f
	movl	shared_page, %ecx
	movl	$GANDALF_INTERRUPT_FLAG, %ebx
	movl	%ebx, SHARED_INTERRUPT_FLAG(%ecx)
	cmpl	$0, SHARED_PENDING(%ecx)
	je	9f
	movl	$GANDALF_HYPERCALL_INTERRUPT_FLAG, %eax
	int	$GANDALF_HYPERCALL_VECTOR
9:
.endm
