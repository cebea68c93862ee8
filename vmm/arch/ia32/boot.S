/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads from the boot loader to C: a multiboot header (Multiboot Specification 0.6.96, 3.1), a page
 * directory that maps the first 4 MiB of physical memory at 0 and at LAYOUT_IMAGE, a stack, and the
 * call of init(). The loader hands over 32-bit protected mode without paging, EAX = 0x2BADB002, EBX
 * = the physical address of its information structure.
 */
#include "arch/ia32/layout.h"
#include "arch/ia32/masked_assembler.h"

#define MULTIBOOT_MAGIC 0x1BADB002
/* Asks for modules on page boundaries, and for memory information. */
#define MULTIBOOT_FLAGS 0x00000003

#define CR4_PSE 0x00000010
#define CR0_PG_NE 0x80000020
#define PDE_LARGE 0x00000083

	.section .boot, "ax"
	.balign 4
	.long MULTIBOOT_MAGIC
	.long MULTIBOOT_FLAGS
	.long -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

	.globl boot_entry
boot_entry:
	cli
	MASKED	boot
	cld
	mov	%eax, %ebp
	mov	%ebx, %esi
	mov	$(memory_directory - LAYOUT_IMAGE), %edi
	movl	$PDE_LARGE, (%edi)
	movl	$PDE_LARGE, (LAYOUT_IMAGE >> 20)(%edi)
	mov	%cr4, %eax
	or	$CR4_PSE, %eax
	mov	%eax, %cr4
	mov	%edi, %cr3
	mov	%cr0, %eax
	or	$CR0_PG_NE, %eax
	mov	%eax, %cr0
	mov	$boot_high, %eax
	jmp	*%eax

	.text
boot_high:
	/*
	 * The idle vCPU goes on using this stack when no guest runs. init() finds on it,
	 * highest address first:
	 *	(boot_stack_top)
	 *	return address, never used	<- esp
	 */
	mov	$boot_stack_top, %esp
	mov	%ebp, %eax
	mov	%esi, %edx
	call	init

	.section .bss..core, "aw", @nobits
	.balign 16
	.skip	BOOT_STACK_SIZE
	.globl	boot_stack_top
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
