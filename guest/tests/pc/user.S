/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PC test guest runs in ring 3. Each piece ends in a trap, at the label
 * that ends in _trap, if the system is right; otherwise in a system call with
 * EAX = -1.
 */
#include "gandalf.h"
#include "selectors.h"

	.section .user, "awx", @progbits
	.balign	4096

.macro piece name
	.globl	\name, \name\()_trap
\name:
.endm

.macro wrong
	movl	$-1, %eax
	int	$VECTOR_SYSTEM_CALL
.endm

	piece user_system_call
	movl	$0x12345678, %eax
	movl	%esp, %ebx
	int	$VECTOR_SYSTEM_CALL
user_system_call_trap:
	wrong

	piece user_interrupted
	movl	$1, user_started
1:	cmpl	$0, user_finish
	je	1b
	int	$VECTOR_SYSTEM_CALL
user_interrupted_trap:
	wrong

	piece user_divide
	xorl	%edx, %edx
	movl	$1, %eax
	xorl	%ecx, %ecx
user_divide_trap:
	divl	%ecx
	wrong

	piece user_undefined
user_undefined_trap:
	ud2
	wrong

	piece user_breakpoint
	int3
user_breakpoint_trap:
	wrong

	piece user_step
	pushfl
	orl	$0x100, (%esp)
	popfl
	nop
user_step_trap:
	wrong

	piece user_halt
user_halt_trap:
	hlt
	wrong

	piece user_disable
user_disable_trap:
	cli
	wrong

	piece user_port
	movl	$0x21, %edx
user_port_trap:
	inb	%dx, %al
	wrong

	piece user_delay_port
user_delay_port_trap:
	outb	%al, $0x80
	wrong

	piece user_time
user_time_trap:
	rdtsc
	wrong

	piece user_control
user_control_trap:
	movl	%cr3, %eax
	wrong

	piece user_hypercall
	movl	$GANDALF_HYPERCALL_NULL, %eax
user_hypercall_trap:
	int	$GANDALF_HYPERCALL_VECTOR
	wrong

	piece user_gate
user_gate_trap:
	int	$VECTOR_IRQ
	wrong

	piece user_stack_selector
	movl	$KERNEL_DATA, %eax
user_stack_selector_trap:
	movl	%eax, %ss
	wrong

	piece user_code_selector
user_code_selector_trap:
	ljmp	$KERNEL_CODE, $0
	wrong

	piece user_return
	pushfl
	pushl	$KERNEL_CODE
	pushl	$0
user_return_trap:
	iret
	wrong

	piece user_read
	movl	user_address, %ecx
user_read_trap:
	movl	(%ecx), %eax
	wrong

	piece user_write
	movl	user_address, %ecx
user_write_trap:
	movl	%eax, (%ecx)
	wrong

	piece user_jump
	movl	user_address, %ecx
	jmp	*%ecx
user_jump_trap:
	wrong

	/* Reads and writes what it may, and says so. */
	piece user_access
	movl	user_address, %ecx
	movl	(%ecx), %ebx
	incl	(%ecx)
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
user_access_trap:
	wrong

	/* Reads only. */
	piece user_look
	movl	user_address, %ecx
	movl	(%ecx), %ebx
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL
user_look_trap:
	wrong

	piece user_float
user_float_trap:
	fld1
	movl	$1, %eax
	int	$VECTOR_SYSTEM_CALL

	.globl	user_started, user_finish, user_address
	.balign	4
user_started:	.long 0
user_finish:	.long 0
user_address:	.long 0

	.balign	4096
	.globl	user_stack_top
	.skip	4096
user_stack_top:

	.section .note.GNU-stack, "", @progbits
