/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for the assembler that a masked section begins here. MASKED_RECORD() in masked.h
 * does the same for C.
 */
.macro MASKED section
771:	.pushsection .debug_masked, "", @progbits
	.long	771b
	.asciz	"\section"
	.popsection
.endm
