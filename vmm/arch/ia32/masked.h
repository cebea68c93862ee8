/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sections of the VMM in which interrupts are masked are named. Each folder has a table of its
 * own, masked_sections.h: of every section the name, the bound in instructions, why that is the
 * bound, and what a guest does to bring the VMM there. A section begins behind a CLI, which names
 * it (cli() in arch/ia32/cpu.h). It ends where an interrupt can be taken again, which is mostly in
 * a guest. docs/masked-sections.md is made of all these tables, in which no name is twice.
 *
 * The bounds are promises: tests/boot/test_masked.py drives the VMM through the sections and
 * compares. A reason that begins with "dedicated:" is for a Linux that has the CPU to itself, so
 * that nobody else waits. An action that begins with "none" is one that no test here takes.
 */
#pragma once

/*
 * Records the address and the name of a section that begins here. The record lies with the debug
 * information, so it takes no byte of the image, and the linker drops it with the code. `make
 * check` compares the records with all CLIs and with the table.
 */
#define MASKED_RECORD(section)                                                \
	"771: .pushsection .debug_masked, \"\", @progbits\n"                     \
	".long 771b; .asciz \"" section "\"; .popsection"

/* Makes an enumerator of a line of a table, by which the compiler knows the section. So a section
 * is an error where the table that has it is not included. */
#define MASKED_NUMBER(name, ...) MASKED_##name,
