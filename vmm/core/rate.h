/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frequency of the time stamp counter to a millionth. What the VMM has measured when it starts
 * its guests (time_tsc_khz) is wrong by some ten of these, which is a second a day. Nobody waits
 * for a better one: it is measured while guests run, and they find it in their shared pages.
 */
#pragma once

#include "lib/types.h"

/* The frequency in units of 10 Hz; 0: it is not known yet. */
extern u32 rate_measured;

/* Begins to measure, on the core that has the machine's chips; others wait for the result. */
void rate_begin(void);
/* A guest may use the reference from now on: what was measured so far is of no use. */
void rate_forget(void);
