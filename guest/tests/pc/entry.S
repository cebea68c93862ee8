/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry, traps and the way to ring 3 and back of the PC test guest. It starts
 * as Linux does by its 32-bit boot protocol (ESI: boot parameters, flat
 * segments, paging off), or, natively, from a multiboot loader.
 */
#include "gandalf.h"
#include "selectors.h"

#define MULTIBOOT_HEADER 0x1badb002
#define MULTIBOOT_LOADED 0x2badb002
/* Exceptions 8, 10 to 14 and 17: the CPU pushes an error code. */
#define WITH_ERROR_CODE 0x27d00

	.section .multiboot, "a", @progbits
	.balign	4
	.long	MULTIBOOT_HEADER, 0, -MULTIBOOT_HEADER

	.text
	.globl	pc_start
pc_start:
	movl	$stack_top, %esp
	cld
	cmpl	$MULTIBOOT_LOADED, %eax
	jne	1f
	xorl	%esi, %esi
1:	xorl	%ebp, %ebp
	/* ESP+4: the boot parameters, 0 without; ESP: return address. */
	subl	$12, %esp
	pushl	%esi
	call	pc_main
	ud2

	.balign	TRAP_STUB_SIZE
	.globl	trap_stubs
trap_stubs:
	.set	vector, 0
	.rept	TRAP_STUBS
	.balign	TRAP_STUB_SIZE
	.if	vector > 31
	pushl	$0
	.elseif	((WITH_ERROR_CODE >> vector) & 1) == 0
	pushl	$0
	.endif
	pushl	$vector
	jmp	trap_common
	.set	vector, vector + 1
	.endr
	.balign	TRAP_STUB_SIZE
	pushl	$0
	pushl	$VECTOR_SYSTEM_CALL
	jmp	trap_common

/*
 * Completes struct trap_frame:
 *	+64	SS		from ring 3 only, like ESP
 *	+60	ESP
 *	+56	EFLAGS
 *	+52	CS
 *	+48	EIP
 *	+44	error code, or 0
 *	+40	vector
 *	+36	DS
 *	+32	ES
 *	ESP	EAX ECX EDX EBX ESP EBP ESI EDI (top to bottom; PUSHA)
 */
trap_common:
	pushl	%ds
	pushl	%es
	pushal
	movl	$USER_DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	cld
	pushl	%esp
	call	trap_run
	addl	$4, %esp
	testl	%eax, %eax
	jnz	user_leave
	popal
	popl	%es
	popl	%ds
	addl	$8, %esp
	.globl	trap_return
trap_return:
	iret

/*
 * void user_run(uint32_t eip): executes code in ring 3, interrupts enabled,
 * until it traps into this kernel by anything but an IRQ. The flag is 0 after.
 * The IRET is that of all returns, as in Linux.
 */
	.globl	user_run
user_run:
	pushl	%ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	movl	20(%esp), %eax
	movl	%esp, user_run_stack
	/* From the top: SS, ESP, EFLAGS, CS, EIP. */
	pushl	$USER_DATA
	pushl	$user_stack_top
	pushl	$(GANDALF_INTERRUPT_FLAG | 2)
	pushl	$USER_CODE
	pushl	%eax
	jmp	trap_return
	.globl	user_leave
user_leave:
	movl	user_run_stack, %esp
	popl	%edi
	popl	%esi
	popl	%ebx
	popl	%ebp
	ret

	.bss
	.balign	4
	.globl	user_run_stack
user_run_stack: .long 0
	.balign	16
	.globl	stack
	.balign	4096
stack:
	.skip	16384
stack_top:
	.skip	4096		/* where traps from ring 3 begin, as TSS.ESP0 says */
	.globl	trap_stack_top
trap_stack_top:

	.section .note.GNU-stack, "", @progbits
