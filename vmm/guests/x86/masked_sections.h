/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the masked sections (arch/ia32/masked.h) of a Linux: instructions of it that are emulated,
 * and what is delivered to it.
 */
#pragma once

#include "arch.h"

#define MASKED_IN_X86(SECTION)                                                                   \
	SECTION(upcall_point, 45000,                                                             \
		"dedicated: a page table of the kernel's half is made, and 32 of its "           \
		"entries are filled, of at most 67 instructions each. 256 spaces are told "      \
		"of it, twice if a large page was there (8,700); its frame is zeroed "           \
		"(2,000), for which the oldest of them may have to go, with 768 page "           \
		"tables (26,700)",                                                               \
		"a kernel with direct gates flushes or changes the kernel's half of its "        \
		"page tables")                                                                   \
	SECTION(deliver, 700,                                                                    \
		"no loop: the next interrupt that waits, if there is one, is let wait "          \
		"until the next section",                                                        \
		"interrupts for a shared Linux that has its own enabled")                        \
	SECTION(no_fpu, 600,                                                                     \
		"no loop: 512 bytes of FPU state are saved and loaded by one instruction "       \
		"each",                                                                          \
		"the first floating-point instruction after another guest's")                    \
	SECTION(cr0, 600,                                                                        \
		"no loop, and the way out",                                                      \
		"a store to CR0, CLTS")                                                          \
	SECTION(cr4, 600,                                                                        \
		"no loop, and the way out",                                                      \
		"a store to CR4 that changes TSD")                                               \
	SECTION(debug_register, 600,                                                             \
		"8 debug registers, and the way out",                                            \
		"a store to DR0 to DR7")                                                         \
	SECTION(halt, 1000,                                                                      \
		"no loop but the way out; a halt for ever ends the guest",                       \
		"HLT, also with interrupts disabled")                                            \
	SECTION(port_in, 1000,                                                                   \
		"the chip of one byte, the date if it is the clock's, and the way out",          \
		"IN of 1, 2 or 4 bytes from every port")                                         \
	SECTION(port_out, 1000,                                                                  \
		"the chip of one byte, its deadline put among at most 30, and the way out",      \
		"OUT of 1, 2 or 4 bytes to every port")                                          \
	SECTION(chips, 1000,                                                                     \
		"2 bytes to the line, the expiry of a timer, or the search for an alarm of "     \
		"at most 6 rounds; and the way out",                                             \
		"accesses to the virtual UART, timer and clock")
enum { MASKED_IN_X86(MASKED_NUMBER) };
