/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guest's memory and the shadow page tables are behind an operation that nothing hits, and
 * how others differ from it; for boundaries.c, and without the tables for moves.c.
 */
#ifndef GANDALF_MEASURE_REFERENCE_H
#define GANDALF_MEASURE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "argument.h"

#define EXCEPTIONS 4

/* What is compared, in whole pages. */
struct compared {
	uint64_t ram;			    /* bytes of the machine's memory */
	struct range memory;		    /* physical: the guest's */
	struct range except[EXCEPTIONS];    /* pages of it that differ from round to round */
	unsigned exceptions;
	uint64_t below;			    /* linear: page tables for what is below; 0: none */
};

extern struct compared compared;

/* Makes room for a reference of what is compared. */
void reference_make(void);
/* Finds the registers of the CPU. */
void reference_find_cpu(void);
/* Finds the machine's memory, once it is there. */
void reference_find_memory(void);
/* Keeps what is there now. */
void reference_take(void);
/* Writes how what is there now differs from it, as the RESULT of boundaries.c. */
void reference_compare(FILE *output);

#endif
