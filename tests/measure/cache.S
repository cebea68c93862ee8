/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multiboot image whose misses of caches and TLBs test_cache.py knows by number. The first 4 MiB
 * are mapped as small pages, of which the first four from 2 MiB on are global, the next 4 MiB as a
 * large one. Each stretch lies in a page and in whole lines of its own.
 */
#define SMALL 0x200000
#define LARGE 0x400000
#define PAGE 0x1000
#define LINE 32
#define ENTRY 0x3		/* present, writable */
#define ENTRY_GLOBAL 0x100
#define ENTRY_LARGE 0x80
#define CR0_PG 0x80000000
#define CR4_PSE_PGE 0x90

	.section .multiboot, "a"
	.long	0x1badb002, 0, -0x1badb002

	.macro stretch name
	.balign	PAGE
	.globl	\name\()_begin, \name\()_end
\name\()_begin:
	.endm
	.macro stretch_end name
	.balign	LINE, 0x90
\name\()_end:
	nop
	.endm

	/* Eight pages, of each another line, so that all fit. */
	.macro eight
	.set	page, 0
	.rept	8
	mov	SMALL + page * (PAGE + LINE), %ebx
	.set	page, page + 1
	.endr
	.endm

	.text
	.globl start
start:
	mov	$stack, %esp
	mov	$ENTRY, %eax
	mov	$table, %edi
1:	mov	%eax, (%edi)
	add	$4, %edi
	add	$PAGE, %eax
	cmp	$LARGE, %eax
	jb	1b
	mov	$table + SMALL / PAGE * 4, %edi
	.rept	4
	orl	$ENTRY_GLOBAL, (%edi)
	add	$4, %edi
	.endr
	movl	$table + ENTRY, directory
	movl	$LARGE + ENTRY_LARGE + ENTRY, directory + 4
	mov	$CR4_PSE_PGE, %eax
	mov	%eax, %cr4
	mov	$directory, %eax
	mov	%eax, %cr3
	mov	%cr0, %eax
	or	$CR0_PG, %eax
	mov	%eax, %cr0
	jmp	pages_begin

	stretch	pages
	eight
	eight
	stretch_end pages
	jmp	dropped_begin

	stretch	dropped
	mov	$SMALL, %eax
	eight
	invlpg	(%eax)
	eight
	mov	$1, %ecx
	invlpg	PAGE + LINE - 8(%eax, %ecx, 8)
	eight
	stretch_end dropped
	jmp	emptied_begin

	stretch	emptied
	eight
	mov	%cr3, %eax
	mov	%eax, %cr3
	eight
	stretch_end emptied
	jmp	globals_begin

	stretch	globals
	eight
	mov	%cr4, %eax
	and	$~0x80, %eax
	mov	%eax, %cr4
	eight
	stretch_end globals
	mov	$CR4_PSE_PGE, %eax
	mov	%eax, %cr4
	jmp	large_begin

	stretch	large
	mov	LARGE, %eax
	mov	LARGE + 0x100020, %eax
	mov	LARGE + 0x300040, %eax
	stretch_end large
	jmp	ways_begin

	/* Five lines of a set with four ways, three times. */
	stretch	ways
	.rept	3
	.set	page, 0
	.rept	5
	mov	SMALL + page * PAGE, %eax
	.set	page, page + 1
	.endr
	.endr
	stretch_end ways

	mov	$0x10, %eax
	mov	$0xf4, %edx
	out	%eax, %dx
1:	hlt
	jmp	1b

	.bss
	.balign	PAGE
directory:
	.skip	PAGE
table:
	.skip	PAGE
	.skip	0x100
stack:
