/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads another CPU from its start-up interrupt to C (SDM vol. 3, 9.4.4). It begins in real mode at
 * LAYOUT_START, where cores.c has copied what stands up to start_end, with the page directory of
 * its instance in start_directory. It has no stack until the instance is mapped.
 */
#include "arch/ia32/layout.h"
#include "arch/ia32/masked_assembler.h"

#define CR4_PSE 0x00000010
#define CR0_PE 0x00000001
/* As boot.S leaves it; the caches are disabled after a reset. */
#define CR0_PAGED 0x80000031
#define START_CODE 0x08
#define START_DATA 0x10
/* Where something of this is once it has been copied. */
#define AT(symbol) (LAYOUT_START + symbol - start_first)

	.text
	.code16
	.globl	start_first
start_first:
	cli
	MASKED	boot
	cld
	mov	%cs, %ax
	mov	%ax, %ds
	lgdtl	start_gdt_register - start_first
	mov	%cr0, %eax
	or	$CR0_PE, %eax
	mov	%eax, %cr0
	ljmpl	$START_CODE, $AT(start_protected)
	.code32
start_protected:
	mov	$START_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	%cr4, %eax
	or	$CR4_PSE, %eax
	mov	%eax, %cr4
	mov	AT(start_directory), %eax
	mov	%eax, %cr3
	mov	$CR0_PAGED, %eax
	mov	%eax, %cr0
	mov	$start_high, %eax
	jmp	*%eax
	.balign	8
start_gdt:
	.quad	0
	.quad	0x00cf9a000000ffff
	.quad	0x00cf92000000ffff
start_gdt_register:
	.word	. - start_gdt - 1
	.long	AT(start_gdt)
	.globl	start_directory
start_directory:
	.long	0
	.globl	start_end
start_end:

	/* The boot stack is the instance's own, as all data is. cores_enter() does not return. */
start_high:
	mov	$boot_stack_top, %esp
	call	cores_enter

	.section .note.GNU-stack, "", @progbits
