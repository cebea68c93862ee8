/* SPDX-License-Identifier: Apache-2.0 */
/* What is done on several CPUs at once. cpus: their numbers, a digit each. */
#ifndef BENCH_PARALLEL_H
#define BENCH_PARALLEL_H

/* The chosen operation so often on each, by a process for each that all begin at once. */
void together(unsigned count, const char *cpus);
/* A program, by its path, which is the first of the arguments; what it prints goes nowhere. Tells
 * how long it takes and how long each CPU is idle meanwhile. */
void elapsed(const char *name, char **arguments);

#endif
