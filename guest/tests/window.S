/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timer handlers for the test of the moment between setting the flag and IRET.
 * Shorter than any other, they restore nothing: the interrupted loop below has
 * no use for the registers that they change.
 */
#include "gandalf.h"

#define SHARED_PENDING 8
#define SHARED_TIMER_EXPIRY 24

	.bss
	.balign	4
	.globl	window_count, window_lowest, window_delay
window_count:	.long 0		/* handlers entered */
window_lowest:	.long 0		/* the lowest ESP that one found */
window_delay:	.long 0		/* ticks after the expiry at which to return */

	.text
/*
 * Stack at a handler's entry; ESP must be the same every time:
 *	+8 EFLAGS	+4 CS	ESP EIP
 */
.macro window_note
	incl	window_count
	cmpl	%esp, window_lowest
	jbe	9f
	movl	%esp, window_lowest
9:	movl	shared_page, %ebx
	/* Enough of them: the loop must have its turn. */
	cmpl	%ecx, window_count
	jae	2f
.endm

/* Sets the flag by a store when the next expiry is about to come. */
	.globl	window_store
window_store:
	window_note
1:	rdtsc
	subl	SHARED_TIMER_EXPIRY(%ebx), %eax
	cmpl	window_delay, %eax
	jb	1b
2:	movl	$GANDALF_INTERRUPT_FLAG, (%ebx)
	iret

/* Sets it by the hypercall when the next interrupt waits already. */
	.globl	window_hypercall
window_hypercall:
	window_note
1:	pause
	cmpl	$0, SHARED_PENDING(%ebx)
	je	1b
2:	movl	$GANDALF_HYPERCALL_INTERRUPT_FLAG, %eax
	movl	$GANDALF_INTERRUPT_FLAG, %ebx
	int	$GANDALF_HYPERCALL_VECTOR
	iret

/*
 * uint32_t window_loop(uint32_t count): sets the flag and waits until handlers
 * have been entered count times; returns its ESP. The handlers change EAX, EBX
 * and EDX.
 */
	.globl	window_loop
window_loop:
	pushl	%ebx
	movl	8(%esp), %ecx
	movl	$0, window_count
	movl	%esp, window_lowest
	movl	shared_page, %ebx
	movl	$GANDALF_INTERRUPT_FLAG, (%ebx)
1:	pause
	cmpl	%ecx, window_count
	jb	1b
	movl	shared_page, %ebx
	movl	$0, (%ebx)
	movl	%esp, %eax
	popl	%ebx
	ret

	.section .note.GNU-stack, "", @progbits
