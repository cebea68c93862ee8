/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every section of the VMM in which interrupts are masked: its name, its bound in instructions,
 * why that is its bound, and what a guest does to bring the VMM there. A section begins behind a
 * CLI, which names it (cli() in ia32/cpu.h), and ends where an interrupt can be taken again, which
 * is mostly in a guest. docs/masked-sections.md is made of this table.
 *
 * The bounds are promises: tests/boot drives the VMM through the sections and compares.
 */
#pragma once

#define MASKED_SECTIONS(SECTION)                                              \
	SECTION(boot, 0, "not bounded: no guest runs", "none")                \
	SECTION(power_off, 0, "not bounded: no guest runs", "none")           \
	SECTION(panic, 0, "not bounded: no guest runs any more", "none")      \
	SECTION(mended_entry, 1000, "", "")                                   \
	SECTION(virtual_8086, 1000, "", "")                                   \
	SECTION(return_to_guest, 1000, "", "")                                \
	SECTION(breathe, 1000, "", "")                                        \
	SECTION(sleep, 1000, "", "")                                          \
	SECTION(upcall_point, 1000, "", "")                                   \
	SECTION(gates_to_linux, 1000, "", "")                                 \
	SECTION(console_interrupt, 1000, "", "")                              \
	SECTION(command_input, 1000, "", "")                                  \
	SECTION(deliver, 1000, "", "")                                        \
	SECTION(no_fpu, 1000, "", "")                                         \
	SECTION(cr0, 1000, "", "")                                            \
	SECTION(debug_register, 1000, "", "")                                 \
	SECTION(halt, 1000, "", "")                                           \
	SECTION(port_in, 1000, "", "")                                        \
	SECTION(port_out, 1000, "", "")                                       \
	SECTION(chips, 1000, "", "")                                          \
	SECTION(alive, 1000, "", "")                                          \
	SECTION(doorbell, 1000, "", "")                                       \
	SECTION(rtos_print, 1000, "", "")                                     \
	SECTION(control_refusal, 1000, "", "")                                \
	SECTION(control_status, 1000, "", "")                                 \
	SECTION(control_object, 1000, "", "")                                 \
	SECTION(control_change, 1000, "", "")                                 \
	SECTION(stop, 1000, "", "")                                           \
	SECTION(take_down, 1000, "", "")

#define MASKED_ENTRIES(ENTRY)                                                 \
	ENTRY(clock_of_shared, 1000, "", "")                                  \
	ENTRY(line_of_shared, 1000, "", "")                                   \
	ENTRY(debug_of_shared, 1000, "", "")                                  \
	ENTRY(clock_of_rtos, 1000, "", "")                                    \
	ENTRY(line_of_rtos, 1000, "", "")                                     \
	ENTRY(hypercall_of_rtos, 1000, "", "")                                \
	ENTRY(exception_of_rtos, 1000, "", "")                                \
	ENTRY(debug_of_rtos, 1000, "", "")                                    \
	ENTRY(hypercall_of_dedicated, 1000, "", "")                           \
	ENTRY(exception_of_dedicated, 1000, "", "")                           \
	ENTRY(debug_of_dedicated, 1000, "", "")                               \
	ENTRY(line_of_dedicated, 1000, "", "")                                \
	ENTRY(clock_of_vmm, 1000, "", "")                                     \
	ENTRY(line_of_vmm, 1000, "", "")                                      \
	ENTRY(debug_of_vmm, 1000, "", "")

/*
 * The record of a section that begins here: the address and the name. It is where debug information
 * is, so that no byte of the image is needed, and the linker drops it with the code.
 * `make check` compares the records with all CLIs and with the table.
 */
#ifdef __ASSEMBLER__
.macro MASKED section
771:	.pushsection .debug_masked, "", @progbits
	.long	771b
	.asciz	"\section"
	.popsection
.endm
#else
#define MASKED_RECORD(section)                                                \
	"771: .pushsection .debug_masked, \"\", @progbits\n"                     \
	".long 771b; .asciz \"" section "\"; .popsection"

/* For the compiler: a section that is not in the table is an error. */
#define MASKED_NUMBER(name, ...) MASKED_##name,
enum masked_section { MASKED_SECTIONS(MASKED_NUMBER) };
#undef MASKED_NUMBER
#endif
