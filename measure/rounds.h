/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plug-ins have in common that look at rounds of a guest's operation, boundaries.c,
 * crossings.c and moves.c: options, the VMM's instructions in a round, and how QEMU calls them.
 * Each has these options, besides its own:
 *
 *	out=FILE	where its lines go
 *	begin=ADDRESS	a round begins before the instruction at this linear address
 *	end=ADDRESS	it ends before the instruction at this one
 *	label=ADDRESS	physical: words of the guest that tell the rounds apart
 *	vmm=LOW-HIGH	linear: the VMM's image
 */
#ifndef GANDALF_MEASURE_ROUNDS_H
#define GANDALF_MEASURE_ROUNDS_H

#include <stdint.h>
#include <stdio.h>

#include "argument.h"
#include "qemu.h"

/* An option, NAME=VALUE, and where its value goes: a number or a range. One that may come several
 * times counts them, and has that many places in an array. */
struct option {
	const char *name;
	uint64_t *number;
	struct range *range;
	unsigned *times, most;
};

struct rounds {
	uint64_t label;
	FILE *output;
	uint32_t *path; /* the addresses of the VMM's instructions in this round */
	uint32_t length;
};

extern struct rounds rounds;

/* The most instructions of a path. */
#define ROUNDS_PATH (1u << 20)

/* Adds an instruction to the path, and fails if that is full. */
void rounds_step(uint32_t linear);

/* --- What a plug-in defines --- */

/* The CPUs of its machine. Where there are several each block must be a single instruction. */
extern const int plugin_vcpus;
/* Its own options; the last one has no name. */
extern const struct option plugin_options[];
/* Before all else, with the options read. */
void plugin_start(void);
qemu_vcpu_callback plugin_vcpu;
/* A round begins or ends; an instruction of the VMM is executed, whose address is data. */
qemu_exec_callback plugin_begin, plugin_end, plugin_instruction;
/* Returns what is called before another instruction, or NULL. */
qemu_exec_callback *plugin_other(uint64_t linear);
/* The last lines. */
void plugin_finish(void);

#endif
