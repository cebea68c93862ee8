/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round of pc-boundaries.elf, and the instructions that it is about. From boundary_begin to
 * boundary_end the plug-in looks (measure/boundaries.c).
 */
#include "gandalf.h"
#include "../boundaries.h"
#include "selectors.h"

/*
 * void boundary_round(uint32_t wait): rings the injector's doorbell, executes so many instructions
 * (not below 4), and then the operation, on a stack and with registers of its own. No doorbell if
 * it is 0.
 */
	.globl	boundary_round
boundary_round:
	movl	4(%esp), %ecx
	pushal
	movl	%esp, boundary_private
	movl	$boundary_stack_top, %esp
	testl	%ecx, %ecx
	jz	2f
	movl	$GANDALF_HYPERCALL_DOORBELL, %eax
	movl	$BOUNDARIES_INJECTOR, %ebx
	int	$GANDALF_HYPERCALL_VECTOR
	/* Three with the shift, then two in each turn. */
	shrl	%ecx
	jnc	1f
	nop
1:	decl	%ecx
	jnz	1b
2:	xorl	%eax, %eax
	movl	$0x01010101, %edx
	movl	$0x02020202, %esi
	movl	$0x03030303, %edi
	movl	$0x04040404, %ebp
	movl	boundary_arguments, %eax
	movl	boundary_arguments + 4, %ebx
	movl	boundary_arguments + 8, %ecx
	.globl	boundary_begin
boundary_begin:
	call	*boundary_operation
	/* What it left, for the comparison: the registers are a part of the memory. */
	movl	%esp, boundary_results + 36
	movl	$boundary_results + 36, %esp
	pushfl
	pushal
	.globl	boundary_end
boundary_end:
	movl	boundary_private, %esp
	popal
	ret

.macro operation name
	.globl	boundary_\name
boundary_\name:
.endm

	operation read
	movl	(%eax), %ebx
	ret

	operation write
	movl	%ebx, (%eax)
	ret

	operation fault
	movl	$1f, trap_resume
	movl	(%eax), %ebx
1:	movl	$0, trap_resume
	ret

	operation fault_write
	movl	$1f, trap_resume
	movl	%ebx, (%eax)
1:	movl	$0, trap_resume
	ret

	operation divide
	movl	$1f, trap_resume
	xorl	%ebx, %ebx
	divl	%ebx
1:	movl	$0, trap_resume
	ret

	operation hypercall
	movl	%ecx, %edx
	movl	%ebx, %ecx
	movl	boundary_arguments + 12, %ebx
	int	$GANDALF_HYPERCALL_VECTOR
	ret

	operation set_cr0
	movl	%eax, %cr0
	ret

	operation set_cr3
	movl	%eax, %cr3
	ret

	operation set_cr4
	movl	%eax, %cr4
	ret

	operation get_cr0
	movl	%cr0, %ebx
	ret

	operation set_dr7
	movl	%eax, %dr7
	ret

	operation clts
	clts
	ret

	operation invlpg
	invlpg	(%eax)
	ret

	operation iret
	pushfl
	pushl	$KERNEL_CODE
	pushl	$1f
	iret
1:	ret

	operation lgdt
	lgdt	(%eax)
	ret

	operation lidt
	lidt	(%eax)
	ret

	operation lldt
	lldt	%ax
	ret

	operation ltr
	ltr	%ax
	ret

	operation in
	movl	%ebx, %edx
	inb	%dx, %al
	ret

	operation out
	movl	%ebx, %edx
	outb	%al, %dx
	ret

	operation cli_sti
	cli
	sti
	ret

	.bss
	.globl	boundary_stack
	.balign	4096
boundary_stack:
	.skip	4096
boundary_stack_top:

	.section .note.GNU-stack, "", @progbits
