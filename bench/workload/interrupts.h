/* SPDX-License-Identifier: Apache-2.0 */
/* What Linux says of interrupts, on all CPUs together. */
#ifndef BENCH_INTERRUPTS_H
#define BENCH_INTERRUPTS_H

#include <stdint.h>

/* timer: of timers, of our own drivers and of CPUs to each other, which come when they should.
 * others: whatever else. */
struct interrupts {
	uint64_t timer, others;
};

struct interrupts interrupts_read(void);
/* Adds to the line what has come since. */
void interrupts_print(const struct interrupts *before);
/* Those of a line that begins with a name, as "TLB:". */
uint64_t interrupts_of(const char *name);

/* Reads a file of /proc; returns its text, which ends with a 0. */
const char *proc_read(const char *path);
/* The beginning of the next line, or the end of the text. */
const char *text_next_line(const char *text);

#endif
