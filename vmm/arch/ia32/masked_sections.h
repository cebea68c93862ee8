/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the masked sections (arch/ia32/masked.h) of the architecture: the ways in and out. Beside
 * those behind a CLI it has those that begin where an interrupt gate is entered. An action that
 * begins with "none" is one that no test here takes.
 */
#pragma once

#include "arch/ia32/masked.h"

#define MASKED_IN_ARCHITECTURE(SECTION)                                                          \
	SECTION(boot, UNBOUNDED,                                                                 \
		"no guest runs yet",                                                             \
		"none: the VMM starts, before the first guest does")                             \
	SECTION(mended_entry, 1000,                                                              \
		"a frame is moved by a word or four, or its guest is stopped as in `stop`",      \
		"a process enters virtual-8086 mode, which only QEMU lets it; a dedicated "      \
		"guest gives the 8259 the vector of an exception")                               \
	SECTION(virtual_8086, 1000,                                                              \
		"no loop: the interrupt that came in that mode is served, as in "                \
		"`line_of_shared`",                                                              \
		"the same process, whatever ends the mode: an exception or an interrupt")        \
	SECTION(return_to_guest, 700,                                                            \
		"the way out: a search among at most 9 vCPUs, a switch, and what the next "      \
		"guest is given, the end of its turn among it",                                 \
		"any exception or hypercall of a shared guest")
enum { MASKED_IN_ARCHITECTURE(MASKED_NUMBER) };

/* The same for entries by interrupt gates. Their names say what came and who was interrupted. */
#define MASKED_ENTRIES(ENTRY)                                                                    \
	ENTRY(clock_of_shared, 1000,                                                             \
		"two deadlines that are due, of which most are only noted; without a UART "      \
		"2 bytes for the screen, or 5 lines of it that move up; a line of it is "        \
		"drawn; the way out to an RTOS",                                                 \
		"timers of RTOSes, the virtual 8254 and clock while Linux runs")                 \
	ENTRY(line_of_shared, 1000,                                                              \
		"one line of the 8259s: 2 bytes from the UART, or 2 codes of the keyboard, are " \
		"received; and the way out",                                                     \
		"the UART, devices of RTOSes while Linux runs")                                  \
	ENTRY(debug_of_shared, 600,                                                              \
		"no loop, and the way out",                                                      \
		"breakpoints and single steps in Linux")                                         \
	ENTRY(way_of_process, 900,                                                               \
		"two levels of privilege: a direct way, or the way through C until that "        \
		"unmasks; on the way back up to 16 pages are filled, in a table that is there",  \
		"system calls, and returns of Linux to its processes")                           \
	ENTRY(clock_of_rtos, 1000,                                                               \
		"as `clock_of_shared`",                                                          \
		"timers while an RTOS runs")                                                     \
	ENTRY(line_of_rtos, 1000,                                                                \
		"as `line_of_shared`",                                                           \
		"the UART, devices of RTOSes while an RTOS runs")                                \
	ENTRY(hypercall_of_rtos, 1000,                                                           \
		"4 bytes of a console, or no loop; and the way out",                             \
		"every hypercall of an RTOS")                                                    \
	ENTRY(exception_of_rtos, 1000,                                                           \
		"no loop; a stop is taken as in `stop`",                                         \
		"faults of an RTOS")                                                             \
	ENTRY(debug_of_rtos, 1000,                                                               \
		"as `exception_of_rtos`",                                                        \
		"breakpoints and single steps in an RTOS")                                       \
	ENTRY(hypercall_of_dedicated, 26000000,                                                  \
		"dedicated: as `exception_of_dedicated`",                                        \
		"the first load of TLS descriptors, behind which the GDT need not be "           \
		"read-only any more: the kernel's half is rebuilt")                              \
	ENTRY(exception_of_dedicated, 26000000,                                                  \
		"dedicated: the kernel's half is rebuilt while the guest has interrupts "        \
		"disabled: 240 page tables of 1,024 entries, of at most 67 instructions "        \
		"each (16.5 million), and each table made as in `upcall_point` (34,700, so "     \
		"8.3 million)",                                                                  \
		"page faults; stores to CR0, CR3 and CR4 and descriptor tables with "            \
		"interrupts disabled")                                                           \
	ENTRY(debug_of_dedicated, 250000,                                                        \
		"dedicated: as `line_of_dedicated`",                                             \
		"breakpoints and single steps, also without a gate")                             \
	ENTRY(line_of_dedicated, 250000,                                                         \
		"dedicated: a frame is built on the guest's stack, or the guest is stopped "     \
		"(2,200). Gate, TSS, stack and instruction may lie in 8 pages of the lower "     \
		"three quarters that have no page table: each is made as in "                    \
		"`upcall_point`, but no space is told (29,000)",                                 \
		"an interrupt by a vector for which the guest had no gate when it loaded "       \
		"its IDT")                                                                       \
	ENTRY(clock_of_vmm, 1000,                                                                \
		"as `clock_of_shared`",                                                          \
		"timers while the idle vCPU waits, or while the VMM works for Linux")            \
	ENTRY(line_of_vmm, 1000,                                                                 \
		"as `line_of_shared`",                                                           \
		"lines in the same place")                                                       \
	ENTRY(debug_of_vmm, 600,                                                                 \
		"no loop",                                                                       \
		"a breakpoint on memory that the VMM reads for a guest")                         \
	ENTRY(exception_of_vmm, 250000,                                                          \
		"dedicated: as `line_of_dedicated`",                                             \
		"an interrupt at a point of the VMM's work: an upcall")
