/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a multiboot loader to C: flat 32-bit segments, interrupts disabled, no stack yet, and a
 * GDT that may be gone.
 */
#define MULTIBOOT_HEADER 0x1badb002
#define CODE 0x08
#define DATA 0x10

	.section .multiboot, "a", @progbits
	.balign	4
	.long	MULTIBOOT_HEADER, 0, -MULTIBOOT_HEADER

	.section .text.start, "ax", @progbits
	.globl	boot_start
boot_start:
	cli
	cld
	lgdt	boot_gdt_register
	ljmp	$CODE, $1f
1:	movl	$DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %fs
	movl	%eax, %gs
	movl	%eax, %ss
	movl	$boot_stack_top, %esp
	xorl	%ebp, %ebp
	/* ESP: return address, to nowhere */
	call	machine_start
	ud2

	.section .rodata
	.balign	8
boot_gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* CODE: 0 to 4 GiB, execute and read */
	.quad	0x00cf93000000ffff	/* DATA: 0 to 4 GiB, read and write */
boot_gdt_register:
	.word	boot_gdt_register - boot_gdt - 1
	.long	boot_gdt

	.bss
	.balign	16
	.skip	4096
	.globl	boot_stack_top
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
