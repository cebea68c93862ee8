/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of pc-views.elf that come to their kernel with a stack or a segment of their own
 * choice. Each reads the word at user_address where it can, which is its kernel's, and says so by a
 * system call with EAX = 1.
 */
#include "selectors.h"

#define BACK_AGAIN 3

	.section .user, "awx", @progbits

.macro read_and_tell segment
	movl	%\segment:(%ecx), %ebx
	movl	$USER_DATA, %eax
	movl	%eax, %ds
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
	ud2
.endm

	/* Has the selector in user_flags in a segment register. */
.macro selected segment
	.globl	user_selected_\segment
user_selected_\segment:
	movl	user_address, %ecx
	movl	user_flags, %eax
	movl	%eax, %\segment
	read_and_tell \segment
.endm

	selected ds
	selected es
	selected fs
	selected gs
	selected ss

	/* Calls its kernel with the stack user_address, and tells by EBX what it has then. */
	.globl	user_posed, user_posed_trap
user_posed:
	movl	user_address, %esp
	movl	$BACK_AGAIN, %eax
	int	$VECTOR_SYSTEM_CALL
	movl	%esp, %ebx
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
user_posed_trap:
	ud2

	/* Goes on in the code segment of user_flags, by a far jump or by an IRET, and calls its
	 * kernel from there. */
	.globl	user_far_jump, user_far_return
user_far_jump:
	movl	user_flags, %eax
	pushl	%eax
	pushl	$elsewhere
	ljmp	*(%esp)
user_far_return:
	pushfl
	pushl	user_flags
	pushl	$elsewhere
	iret
elsewhere:
	movl	$BACK_AGAIN, %eax
	int	$VECTOR_SYSTEM_CALL
	movl	user_address, %ecx
	read_and_tell ds

	.section .note.GNU-stack, "", @progbits
