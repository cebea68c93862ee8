/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native port's part of context.S: the interrupt flag is the CPU's, and IRET loads it.
 */
#define EFLAGS_IF 0x200

.macro stack_of_handlers
	movl	$boot_stack_top, %esp
.endm

/* The task had it 1 before the kernel cleared it. */
.macro flag_in_frame
	orl	$EFLAGS_IF, (%esp)
.endm

.macro flag_restore
.endm
