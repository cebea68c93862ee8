/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of pc-search.elf C cannot say: calls that any exception ends, and instructions on a stack
 * that may be nowhere.
 */
#include "selectors.h"

/* void search_call(void (*function)(const uint32_t *), const uint32_t *arguments) */
	.globl	search_call
search_call:
	pushl	%ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	movl	20(%esp), %eax
	movl	24(%esp), %ecx
	movl	%esp, search_stack
	movl	$search_resume, trap_resume
	pushl	%ecx
	call	*%eax
search_resume:
	movl	search_stack, %esp
	movl	$0, trap_resume
	popl	%edi
	popl	%esi
	popl	%ebx
	popl	%ebp
	ret

/*
 * void search_on_stack(uint32_t stack, void (*piece)(void))
 * A piece that does not trap jumps back.
 */
	.globl	search_on_stack
search_on_stack:
	movl	4(%esp), %eax
	movl	8(%esp), %ecx
	movl	%eax, %esp
	jmp	*%ecx

.macro piece name
	.globl	\name
\name:
.endm
	piece piece_fnop
	fnop
	jmp	search_resume
	piece piece_undefined
	ud2
	piece piece_divide
	xorl	%edx, %edx
	divl	%edx
	jmp	search_resume
	piece piece_breakpoint
	int3
	jmp	search_resume
	piece piece_read
	movl	0x7ffff000, %eax
	jmp	search_resume
	piece piece_push
	pushl	%eax
	jmp	search_resume
	piece piece_enable
	sti
	jmp	search_resume
	piece piece_iret
	iret
	piece piece_protection
	movl	$0xfff8, %eax
	movl	%eax, %fs
	jmp	search_resume
	piece piece_system_call
	int	$VECTOR_SYSTEM_CALL
	jmp	search_resume

/* The plug-in of measure/ begins and ends here. */
	.globl	search_begin
search_begin:
	ret
	.globl	search_end
search_end:
	ret

	.bss
	.balign	4
search_stack: .long 0

	.section .note.GNU-stack, "", @progbits
