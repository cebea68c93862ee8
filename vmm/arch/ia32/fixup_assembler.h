/* SPDX-License-Identifier: Apache-2.0 */
/* Lets assembler say which of its instructions may fault. */
#pragma once

/* Says that a fault of the instruction at \at goes on at \to. trap_vmm() in trap.c reads it. */
.macro FIXUP at, to
	.section .fixups, "a"
	.long	\at, \to
	.previous
.endm

/* Mends a POP of a segment register at \at: puts the null selector in the place of one that the
 * guest's tables no longer hold, and pops again. */
.macro POP_FIXUP at
	FIXUP	\at, fix_\at
fix_\at:
	movl	$0, (%esp)
	jmp	\at
.endm
