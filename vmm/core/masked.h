/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every section of the VMM in which interrupts are masked. The table has its name, its bound in
 * instructions, why that is the bound, and what a guest does to bring the VMM there. A section
 * begins behind a CLI, which names it (cli() in arch/ia32/cpu.h). It ends where an interrupt can be
 * taken again, which is mostly in a guest. docs/masked-sections.md is made of this table.
 *
 * The bounds are promises: tests/boot/test_masked.py drives the VMM through the sections and
 * compares. A reason that begins with "dedicated:" is for a Linux that has the CPU to itself, so
 * that nobody else waits. An action that begins with "none" is one that no test here takes.
 */
#pragma once

#define MASKED_SECTIONS(SECTION)                                                              \
	SECTION(boot, UNBOUNDED,                                                              \
		"no guest runs yet",                                                          \
		"none: the VMM starts, before the first guest does")                          \
	SECTION(power_off, UNBOUNDED,                                                         \
		"no guest runs any more",                                                     \
		"the end of the last guest")                                                  \
	SECTION(panic, UNBOUNDED,                                                             \
		"no guest runs any more",                                                     \
		"none: a mistake of the VMM itself, which no guest can cause")                \
	SECTION(mended_entry, 1000,                                                           \
		"a frame is moved by a word or four, or its guest is stopped as "             \
		"in `stop`",                                                                  \
		"a process enters virtual-8086 mode, which only QEMU lets it; a "             \
		"dedicated guest gives the 8259 the vector of an exception")                  \
	SECTION(virtual_8086, 1000,                                                           \
		"no loop: the interrupt that came in that mode is served, as in "             \
		"`line_of_shared`",                                                           \
		"the same process, whatever ends the mode: an exception or an "               \
		"interrupt")                                                                  \
	SECTION(return_to_guest, 600,                                                         \
		"the way out: a search among at most 9 vCPUs, a switch, and "                 \
		"what the next guest is given",                                               \
		"any exception or hypercall of a shared guest")                               \
	SECTION(breathe, 1000,                                                                \
		"one step of the idle vCPU's work (768 bytes copied, 4 gates, a "              \
		"byte of a line, a frame freed), and the way out",                            \
		"starts, restarts, faults and resets of guests; commands on "                 \
		"the VMM's console")                                                          \
	SECTION(sleep, 1000,                                                                  \
		"the idle vCPU looks for work, and takes its first step",                     \
		"all guests halt")                                                            \
	SECTION(upcall_point, 45000,                                                          \
		"dedicated: a page table of the kernel's half is made, and 32 "               \
		"of its entries are filled, of at most 67 instructions each. "                \
		"256 spaces are told of it, twice if a large page was there "                 \
		"(8,700); its frame is zeroed (2,000), for which the oldest of "              \
		"them may have to go, with 768 page tables (26,700)",                         \
		"a kernel with direct gates flushes or changes the kernel's "                 \
		"half of its page tables")                                                    \
	SECTION(gates_to_linux, 1000,                                                         \
		"dedicated: 16 lines of the 8259s, in one loop",                              \
		"the start of a guest with direct gates")                                     \
	SECTION(message, 1000,                                                                \
		"one message of another core is taken and done: a doorbell, an "              \
		"action on a guest, or what is known of a guest, 55 words",                   \
		"guests of several CPUs ring and interrupt each other, and are managed")      \
	SECTION(console_pump, 1000,                                                           \
		"2 bytes for the UART, of which 4 characters of a line, or a "                \
		"notice of at most 60, are put together",                                     \
		"output on any console")                                                      \
	SECTION(console_tell, 1000,                                                           \
		"at most 9 guests are told that there is room or input, and "                 \
		"the way out",                                                                \
		"the same")                                                                   \
	SECTION(command_input, 1000,                                                          \
		"one byte that was typed, or what one line asks the VMM to do; "              \
		"answers are printed in steps",                                               \
		"lines typed on the VMM's console, also while an RTOS never "                 \
		"halts")                                                                      \
	SECTION(deliver, 600,                                                                 \
		"no loop: the next interrupt that waits, if there is one, is "                \
		"let wait until the next section",                                            \
		"interrupts for a shared Linux that has its own enabled")                     \
	SECTION(no_fpu, 600,                                                                  \
		"no loop: 512 bytes of FPU state are saved and loaded by one "                \
		"instruction each",                                                           \
		"the first floating-point instruction after another guest's")                 \
	SECTION(cr0, 600,                                                                     \
		"no loop, and the way out",                                                   \
		"a store to CR0, CLTS")                                                       \
	SECTION(cr4, 600,                                                                     \
		"no loop, and the way out",                                                   \
		"a store to CR4 that changes TSD")                                            \
	SECTION(debug_register, 600,                                                          \
		"8 debug registers, and the way out",                                         \
		"a store to DR0 to DR7")                                                      \
	SECTION(halt, 1000,                                                                   \
		"no loop but the way out; a halt for ever ends the guest",                    \
		"HLT, also with interrupts disabled")                                         \
	SECTION(port_in, 1000,                                                                \
		"the chip of one byte, the date if it is the clock's, and the "               \
		"way out",                                                                    \
		"IN of 1, 2 or 4 bytes from every port")                                      \
	SECTION(port_out, 1000,                                                               \
		"the chip of one byte, its deadline put among at most 30, and "               \
		"the way out",                                                                \
		"OUT of 1, 2 or 4 bytes to every port")                                       \
	SECTION(chips, 1000,                                                                  \
		"2 bytes to the line, the expiry of a timer, or the search for "              \
		"an alarm of at most 6 rounds; and the way out",                              \
		"accesses to the virtual UART, timer and clock")                              \
	SECTION(apic_write, 1000,                                                             \
		"a register of the virtual local APIC, its deadline, and the way out",        \
		"stores to the local APIC of a vCPU that has siblings")                       \
	SECTION(ipi, 1000,                                                                    \
		"8 messages of some 40 instructions each, and the way out",                   \
		"a vCPU interrupts its siblings")                                             \
	SECTION(start_cpu, 600,                                                               \
		"one message, and the way out",                                               \
		"a vCPU starts another one")                                                  \
	SECTION(arrive, 1000,                                                                 \
		"no loop, and the way out",                                                   \
		"none, since no load moves a vCPU: the first return to one that has moved")    \
	SECTION(alive, 600,                                                                   \
		"no loop, and the way out",                                                   \
		"the hypercall that tells the watchdog of life")                              \
	SECTION(doorbell, 1000,                                                               \
		"at most 8 channels, and the way out",                                        \
		"the doorbell of another guest")                                              \
	SECTION(rtos_print, 1000,                                                             \
		"4 bytes, or 2 for the UART",                                                 \
		"an RTOS's console output")                                                   \
	SECTION(rtos_read, 1000,                                                              \
		"4 bytes of what was typed",                                                  \
		"an RTOS reads its console")                                                  \
	SECTION(control_refusal, 1000,                                                        \
		"no loop: it is noted for the idle vCPU, and the way out",                    \
		"a hypercall of control by a guest without `control = true`")                 \
	SECTION(control_status, 600,                                                          \
		"no loop, and the way out",                                                   \
		"a look at the system's state")                                               \
	SECTION(control_object, 1000,                                                         \
		"512 bytes copied, and the way out",                                          \
		"a look at a guest, counters, console or trace")                              \
	SECTION(control_change, 1000,                                                         \
		"512 bytes copied, or a guest's state changed; and the way out",              \
		"an action on another guest, an image loaded, a console typed "               \
		"on")                                                                         \
	SECTION(control_type, 1000,                                                           \
		"16 bytes typed on another's console, and the way out",                       \
		"a write to an RTOS's console")                                               \
	SECTION(stop, 1000,                                                                   \
		"no loop: the reason is formatted in front of it",                                \
		"a triple fault, an unknown hypercall, a bad address")                        \
	SECTION(take_down, 1000,                                                              \
		"8 lines and deadlines of the guest are given up, and the way "               \
		"out",                                                                        \
		"the same")
/* The same for entries by interrupt gates. Their names say what came and who was interrupted. */
#define MASKED_ENTRIES(ENTRY)                                                                 \
	ENTRY(clock_of_shared, 1000,                                                          \
		"two deadlines that are due, of which most are "                              \
		"only noted; without a UART 2 bytes for the screen, or 5 lines "              \
		"of it that move up; the way out to an RTOS",                                 \
		"timers of RTOSes, the virtual 8254 and clock while Linux runs")              \
	ENTRY(line_of_shared, 1000,                                                           \
		"one line of the 8259s: 2 bytes from the UART are received; "                 \
		"and the way out",                                                            \
		"the UART, devices of RTOSes while Linux runs")                               \
	ENTRY(debug_of_shared, 600,                                                           \
		"no loop, and the way out",                                                   \
		"breakpoints and single steps in Linux")                                      \
	ENTRY(clock_of_rtos, 1000,                                                            \
		"as `clock_of_shared`",                                                       \
		"timers while an RTOS runs")                                                  \
	ENTRY(line_of_rtos, 1000,                                                             \
		"as `line_of_shared`",                                                        \
		"the UART, devices of RTOSes while an RTOS runs")                             \
	ENTRY(hypercall_of_rtos, 1000,                                                        \
		"4 bytes of a console, or no loop; and the way out",                          \
		"every hypercall of an RTOS")                                                 \
	ENTRY(exception_of_rtos, 1000,                                                        \
		"no loop; a stop is taken as in `stop`",                                      \
		"faults of an RTOS")                                                          \
	ENTRY(debug_of_rtos, 1000,                                                            \
		"as `exception_of_rtos`",                                                     \
		"breakpoints and single steps in an RTOS")                                    \
	ENTRY(hypercall_of_dedicated, 26000000,                                               \
		"dedicated: as `exception_of_dedicated`",                                     \
		"the first load of TLS descriptors, behind which the GDT need "               \
		"not be read-only any more: the kernel's half is rebuilt")                    \
	ENTRY(exception_of_dedicated, 26000000,                                               \
		"dedicated: the kernel's half is rebuilt while the guest has "                \
		"interrupts disabled: 240 page tables of 1,024 entries, of at "               \
		"most 67 instructions each (16.5 million), and each table made "              \
		"as in `upcall_point` (34,700, so 8.3 million)",                              \
		"page faults; stores to CR0, CR3 and CR4 and descriptor tables "              \
		"with interrupts disabled")                                                   \
	ENTRY(debug_of_dedicated, 250000,                                                     \
		"dedicated: as `line_of_dedicated`",                                          \
		"breakpoints and single steps, also without a gate")                          \
	ENTRY(line_of_dedicated, 250000,                                                      \
		"dedicated: a frame is built on the guest's stack, or the guest "             \
		"is stopped (2,200). Gate, TSS, stack and instruction may lie "               \
		"in 8 pages of the lower three quarters that have no page "                   \
		"table: each is made as in `upcall_point`, but no space is told "             \
		"(29,000)",                                                                   \
		"an interrupt by a vector for which the guest had no gate when "              \
		"it loaded its IDT")                                                          \
	ENTRY(clock_of_vmm, 1000,                                                             \
		"as `clock_of_shared`",                                                       \
		"timers while the idle vCPU waits, or while the VMM works for "               \
		"Linux")                                                                      \
	ENTRY(line_of_vmm, 1000,                                                              \
		"as `line_of_shared`",                                                        \
		"lines in the same place")                                                    \
	ENTRY(debug_of_vmm, 600,                                                              \
		"no loop",                                                                    \
		"a breakpoint on memory that the VMM reads for a guest")                      \
	ENTRY(exception_of_vmm, 250000,                                                       \
		"dedicated: as `line_of_dedicated`",                                          \
		"an interrupt at a point of the VMM's work: an upcall")
/*
 * Records the address and the name of a section that begins here. The record lies with the debug
 * information, so it takes no byte of the image, and the linker drops it with the code. `make
 * check` compares the records with all CLIs and with the table.
 */
#define MASKED_RECORD(section)                                                \
	"771: .pushsection .debug_masked, \"\", @progbits\n"                     \
	".long 771b; .asciz \"" section "\"; .popsection"

/* Names the sections for the compiler, so that one that is not in the table is an error. */
#define MASKED_NUMBER(name, ...) MASKED_##name,
enum masked_section { MASKED_SECTIONS(MASKED_NUMBER) };
#undef MASKED_NUMBER
