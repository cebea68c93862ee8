/* SPDX-License-Identifier: Apache-2.0 */
/* What the assembler's files say of instructions that may fault. */
#pragma once

/* Says that a fault of the instruction at \at goes on at \to. trap_vmm() in trap.c reads it. */
.macro FIXUP at, to
	.section .fixups, "a"
	.long	\at, \to
	.previous
.endm
