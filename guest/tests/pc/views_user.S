/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of pc-views.elf do, and how its kernel returns to one by a frame of its own.
 * Each piece ends with a system call, with EAX = 1 if all was right.
 */
#include "gandalf.h"
#include "selectors.h"

	.text
	/*
	 * void view_return(const uint32_t *frame): returns to ring 3 by EIP, CS, EFLAGS, ESP and SS
	 * at frame, as user_run() does, and comes back as that does; also if the IRET itself traps.
	 */
	.globl	view_return, view_iret
view_return:
	pushl	%ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	movl	20(%esp), %eax
	movl	%esp, user_run_stack
	movl	$user_leave, trap_resume
	movl	%eax, %esp
view_iret:
	iret

	/* The same by an IRET with a prefix that changes nothing. */
	.globl	view_return_prefixed
view_return_prefixed:
	pushl	%ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	movl	20(%esp), %eax
	movl	%esp, user_run_stack
	movl	$user_leave, trap_resume
	movl	%eax, %esp
	.byte	0x36
	iret

	.section .user, "awx", @progbits

	/* Reads a word of the page at user_address, and goes on to the next page by itself. */
	.globl	user_look_on
user_look_on:
	movl	user_address, %ecx
	movl	(%ecx), %ebx
	movl	4096(%ecx), %ebx
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
	ud2

	/* Says where it is, and how often it was there. */
	.globl	user_count
user_count:
	incl	user_counted
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
	jmp	user_count

	.globl	user_flagged, user_flagged_trap
user_flagged:
	pushl	user_flags
	popfl
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
user_flagged_trap:
	ud2

	/* Steps through system calls by itself: the kernel counts the steps. */
	.globl	user_stepped
user_stepped:
	pushfl
	orl	$0x100, (%esp)
	popfl
	movl	$3, %eax
	int	$VECTOR_SYSTEM_CALL
	nop
	movl	$3, %eax
	int	$VECTOR_SYSTEM_CALL
	movl	%ds, %ecx
	movl	%ecx, %ds
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
	ud2

	.globl	user_hypercall_any, user_hypercall_any_trap
user_hypercall_any:
	movl	user_flags, %eax
	xorl	%ebx, %ebx
	xorl	%ecx, %ecx
	xorl	%edx, %edx
user_hypercall_any_trap:
	int	$GANDALF_HYPERCALL_VECTOR
	ud2

	/* Reads a word, and sees that its data segments are still the same: DS and GS have one, and
	 * ES has none. */
	.globl	user_segments
user_segments:
	movl	user_address, %ecx
	xorl	%eax, %eax
	movl	%eax, %es
	movl	$USER_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %gs
	movl	(%ecx), %ebx
	movl	%ds, %eax
	xorl	$USER_DATA, %eax
	movl	%gs, %ecx
	xorl	$USER_DATA, %ecx
	orl	%ecx, %eax
	movl	%es, %ecx
	orl	%ecx, %eax
	incl	%eax
	int	$VECTOR_SYSTEM_CALL
	ud2

	.globl	user_flags, user_counted
	.balign	4
user_flags:	.long 0
user_counted:	.long 0

	.section .note.GNU-stack, "", @progbits
