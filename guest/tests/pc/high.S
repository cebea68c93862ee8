/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a test kernel starts that is linked in the kernel half, as Linux is. It is loaded at 1 MiB,
 * so it maps the first 16 MiB both there and in the kernel half, and goes on there.
 */
#define KERNEL_HALF 0xc0000000
#define KERNEL_ENTRIES 0xc00	/* of the directory, in bytes */
#define MAPPED 0x1000000
#define LARGE_PAGE 0x400000
#define PAGE_FLAGS 0xe3		/* present, writable, accessed, dirty, large */
#define CR4_PSE 0x10
#define CR0_PG_WP 0x80010000

	.text
	/* EAX and ESI are what pc_start wants to know. */
high_start:
	movl	$boot_directory - KERNEL_HALF, %edi
	movl	$PAGE_FLAGS, %ecx
1:	movl	%ecx, (%edi)
	movl	%ecx, KERNEL_ENTRIES(%edi)
	addl	$4, %edi
	addl	$LARGE_PAGE, %ecx
	cmpl	$MAPPED, %ecx
	jb	1b
	movl	%cr4, %ecx
	orl	$CR4_PSE, %ecx
	movl	%ecx, %cr4
	movl	$boot_directory - KERNEL_HALF, %ecx
	movl	%ecx, %cr3
	movl	%cr0, %ecx
	orl	$CR0_PG_WP, %ecx
	movl	%ecx, %cr0
	movl	$pc_start, %ecx
	jmp	*%ecx

	/* Where that is before there is paging. */
	.globl	high_start_physical
	.set	high_start_physical, high_start - KERNEL_HALF

	.bss
	.balign	4096
boot_directory:
	.skip	4096

	.section .note.GNU-stack, "", @progbits
