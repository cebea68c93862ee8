/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instructions of an RTOS guest. The VMM has loaded the segments,
 * ESP (start of the shared page, so a multiple of 16) and, in EBX, the address
 * of the shared page.
 */
#include "gandalf.h"

	.cfi_sections .debug_frame
	.section .text.start, "ax", @progbits
	.globl	guest_start
	.type	guest_start, @function
guest_start:
	.cfi_startproc
	.cfi_undefined eip	/* nobody has called it: a backtrace ends here */
	cmpl	$GANDALF_ENTRY_MAGIC, %eax
	jne	1f
	cld
	xorl	%ebp, %ebp
	/*
	 * The stack of guest_main(), a C function that never returns:
	 *
	 *	ESP+0	return address
	 *	ESP+4	the shared page (its only argument)
	 *	ESP+8, ESP+12	unused; the argument is on a multiple of 16
	 */
	subl	$12, %esp
	pushl	%ebx
	call	guest_main
1:	ud2			/* not started by the VMM: let it say so */
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
