/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plug-ins have in common in whose rounds another CPU acts at a chosen instruction of the
 * VMM: crossings.c and moves.c. The CPUs take turns in one thread, and each block of code is one
 * instruction (-singlestep). In the Nth instruction of the VMM in a round a word of the guest is
 * set, and the turn of the CPU that executes it ends behind that instruction; another CPU, which
 * waits for the word with PAUSE, acts, and its next PAUSE gives the turn back.
 *
 * label= has four words: a mark (NTH_MARK) without which there is no round, the number of the
 * operation, 0 for none, N, 0 for no instruction, and the word that is set. Of a round in which no
 * instruction was the Nth is written, with the VMM's instructions,
 *
 *	path OPERATION N ADDRESS...
 *
 * and of each other one
 *
 *	hit OPERATION N ADDRESS
 */
#ifndef GANDALF_MEASURE_NTH_H
#define GANDALF_MEASURE_NTH_H

#include <stdbool.h>
#include <stdint.h>

#define NTH_MARK 0x63726f73u

struct nth_label {
	uint32_t mark, operation, at, go;
};

/* The round that is going on, or the last one. hit: its instruction has been executed. */
struct nth_round {
	bool on, hit;
	struct nth_label label;
};

extern struct nth_round nth;

/* A round begins. */
void nth_begin(void);
/* The round is to count an instruction of the VMM, which cpu.qemu executes. Returns whether it was
 * the Nth. */
bool nth_step(uint32_t linear);
/* The round ends. */
void nth_end(void);

#endif
