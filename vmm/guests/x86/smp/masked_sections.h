/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the masked sections (arch/ia32/masked.h) of a Linux with several vCPUs, which interrupt,
 * start and move each other.
 */
#pragma once

#include "arch.h"

#define MASKED_IN_SMP(SECTION)                                                                   \
	SECTION(apic_write, 1000,                                                                \
		"a register of the virtual local APIC, its deadline, and the way out",           \
		"stores to the local APIC of a vCPU that has siblings")                          \
	SECTION(ipi, 1000,                                                                       \
		"8 messages of some 40 instructions each, and the way out",                      \
		"a vCPU interrupts its siblings")                                                \
	SECTION(start_cpu, 600,                                                                  \
		"one message, and the way out",                                                  \
		"a vCPU starts another one")                                                     \
	SECTION(yield, 1000,                                                                     \
		"its place behind at most 8 vCPUs, a deadline put among at most 30, and "        \
		"the way out",                                                                   \
		"a vCPU that waits for a sibling on its core ends its turn")                     \
	SECTION(arrive, 1000,                                                                    \
		"no loop, and the way out",                                                      \
		"a vCPU that has moved goes on where it is")                                     \
	SECTION(kernel_watch, 1000,                                                              \
		"8 cores whose latest change of the policy is looked for, 8 more on which the "  \
		"vCPU could go on, 31 code segments of processes, and the way out",              \
		"a process enters its kernel, or that returns, by the policy \"trap\"")
enum { MASKED_IN_SMP(MASKED_NUMBER) };
