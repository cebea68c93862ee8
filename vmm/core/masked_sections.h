/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the masked sections (arch/ia32/masked.h) of core: what it does with guests, messages and
 * consoles.
 */
#pragma once

#include "arch.h"

#define MASKED_IN_CORE(SECTION)                                                                  \
	SECTION(panic, UNBOUNDED,                                                                \
		"no guest runs any more",                                                        \
		"none: a mistake of the VMM itself, which no guest can cause")                   \
	SECTION(idle_step, 1000,                                                                   \
		"one step of the idle vCPU's work (768 bytes copied, 4 gates, a byte of a "      \
		"line, a frame freed, a part of a vCPU that arrives), and the way out",          \
		"starts, restarts, faults and resets of guests; commands on the VMM's "          \
		"console")                                                                       \
	SECTION(turn, 1000,                                                                      \
		"a vCPU of Linux that takes turns with siblings has the core again: what waits " \
		"for it is delivered, and the way out",                                          \
		"several vCPUs of a Linux on one CPU")                                           \
	SECTION(sleep, 1000,                                                                     \
		"the idle vCPU looks for work, and takes its first step",                        \
		"all guests halt")                                                               \
	SECTION(gates_to_linux, 1000,                                                            \
		"dedicated: 16 lines of devices, in one loop",                                 \
		"the start of a guest with direct gates")                                        \
	SECTION(message, 1000,                                                                   \
		"one message of another core is taken and done: a doorbell, an action on a "     \
		"guest, or what is known of a guest, 55 words",                                  \
		"guests of several CPUs ring and interrupt each other, and are managed")         \
	SECTION(console_pump, 1000,                                                              \
		"2 bytes for the UART, or one for it and the screen, of which 4 characters of "  \
		"a line, or a notice of at most 80, are put together",                           \
		"output on any console")                                                         \
	SECTION(console_tell, 1000,                                                              \
		"at most 9 guests are told that there is room or input, and the way out",        \
		"the same")                                                                      \
	SECTION(command_input, 1000,                                                             \
		"one byte that was typed, or what one line asks the VMM to do; answers are "     \
		"printed in steps",                                                              \
		"lines typed on the VMM's console, also while an RTOS never halts")              \
	SECTION(alive, 600,                                                                      \
		"no loop, and the way out",                                                      \
		"the hypercall that tells the watchdog of life")                                 \
	SECTION(doorbell, 1000,                                                                  \
		"at most 8 channels, and the way out",                                           \
		"the doorbell of another guest")                                                 \
	SECTION(control_refusal, 1000,                                                           \
		"no loop: it is noted for the idle vCPU, and the way out",                       \
		"a hypercall of control by a guest without `control = true`")                    \
	SECTION(control_status, 600,                                                             \
		"no loop, and the way out",                                                      \
		"a look at the system's state")                                                  \
	SECTION(control_object, 1000,                                                            \
		"512 bytes copied, and the way out",                                             \
		"a look at a guest, counters, console or trace")                                 \
	SECTION(control_change, 1000,                                                            \
		"512 bytes copied, or a guest's state changed; and the way out",                 \
		"an action on another guest, an image loaded, a console typed on")               \
	SECTION(control_type, 1000,                                                              \
		"16 bytes typed on another's console, and the way out",                          \
		"a write to an RTOS's console")                                                  \
	SECTION(stop, 1000,                                                                      \
		"no loop: the reason is formatted in front of it",                               \
		"a triple fault, an unknown hypercall, a bad address")                           \
	SECTION(take_down, 1000,                                                                 \
		"8 lines and deadlines of the guest are given up, and the way out",              \
		"the same")
enum { MASKED_IN_CORE(MASKED_NUMBER) };
