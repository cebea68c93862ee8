/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that are measured. */
#ifndef BENCH_OPERATION_H
#define BENCH_OPERATION_H

#include <stdint.h>

/* Time stamps further apart than this have an interrupt between them. */
#define GAP 400u
/* As many operations are done before anything is measured. */
#define WARM_UP 8u

struct operation {
	const char *name;
	/* Before the first one; NULL: nothing. */
	void (*prepare)(void);
	/* As many operations as `parts` says, by which what is measured is divided. Ends the
	 * program if anything is not as it should be. */
	void (*run)(void);
	/* After the last one; NULL: nothing. */
	void (*finish)(void);
	/* When the last one began, as the low half of a time stamp; NULL: when run() was called. */
	uint32_t (*began)(void);
	unsigned parts;
};

/* The last one has no name. */
extern const struct operation operations[];

/* The one that is measured, and how often it has been done when it is finished. */
extern const struct operation *operation;
extern unsigned operation_runs;

/* The program for exec_dynamic, the script for shell, the number of CPUs for threads. */
extern char *operation_argument;

/* Says what is wrong with the operation and ends the program. */
void __attribute__((noreturn)) operation_fail(const char *what);

/* Each operation checks that it did what it is measured for. */
static inline void check(int right, const char *what)
{
	if (!right)
		operation_fail(what);
}

#endif
