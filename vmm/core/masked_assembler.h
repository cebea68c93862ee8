/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the assembler: the record of a masked section that begins here, as MASKED_RECORD() in
 * core/masked.h makes it for C.
 */
.macro MASKED section
771:	.pushsection .debug_masked, "", @progbits
	.long	771b
	.asciz	"\section"
	.popsection
.endm
