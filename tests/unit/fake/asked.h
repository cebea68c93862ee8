/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code under test has asked of the rest of the VMM, where a program does not link that:
 * the fake VMM (core.c, arch.c and x86.c here) has a stand-in of its functions and writes down what
 * was asked. A test reads, sets and clears it.
 *
 * Each stand-in gives way to the function itself where a program links that, and to a test's own
 * one. A test has its own where it needs another answer or looks at each call, and says so in a
 * comment that begins with "Own stand-ins" and names the functions. `make check` names those that
 * no such comment has.
 */
#pragma once

#include "core/core.h"
#include "core/message.h"
#include "core/time.h"
#include "core/trace.h"

/* Of a function of the fake VMM. */
#define STAND_IN __attribute__((weak))

struct asked {
	u32 admissions;
	u32 housekeeping; /* all bits since the test has cleared them */
	void (*on_admission)(void);
	struct gandalf_trace_event traced; /* the last one, but for trace_fast() */
	struct deadline *deadline;         /* was made last */
	char line[160];                    /* was printed last */
	u32 lines, pumps;
	u32 sent[GANDALF_CPUS_MAXIMUM][MESSAGES]; /* to a core, a message */
	char stop_reason[128];
	u32 stops, reboots, power_offs, halts, falls, starts, lives, reports;
	u32 told, renewed, rung; /* of channels */
	bool output_left;        /* is what a test says of consoles */
	u32 output_asked;        /* how often that was asked for */
	u32 loans;
	bool delays;             /* RTOSes wait for Linux's locks */
	u32 interrupted; /* cores, which are bits */
	u32 fpu_taken, hidings, entries;
};
extern struct asked asked;
