/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile guest that is told what to try, one line at a time. attack.c knows
 * the attacks that every guest can make; rtos/ and pc/ say how this guest reads
 * its console and notices a fault, and add attacks of their own.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform.h"

#define ARGUMENTS_MAXIMUM 4
/* The guest's own words for its segments, in the order of `segment`. */
enum segment { SEGMENT_DS, SEGMENT_ES, SEGMENT_FS, SEGMENT_GS, SEGMENT_SS, SEGMENT_CS, SEGMENTS };

enum outcome { OUTCOME_FAULT, OUTCOME_READ, OUTCOME_WROTE };

struct request {
	enum segment segment;
	uint32_t argument[ARGUMENTS_MAXIMUM];
	unsigned int arguments;
	uint32_t value; /* what OUTCOME_READ gives back */
};

struct attack {
	const char *name;
	bool segment;           /* the name of a segment register comes first */
	unsigned int arguments; /* numbers that must follow */
	enum outcome (*run)(struct request *request);
};

/*
 * Executes the text of instructions; after a fault in it, and after its end, goes
 * on with the text `cleanup`. Operands follow. The fault is counted in FAULTS.
 */
#define ATTEMPT(text, cleanup, ...) \
	do { \
		FAULTS = 0; \
		__asm__ volatile("movl $1f, " RESUME "\n" text "\n1:\n\t" cleanup "\n\t" \
				 "movl $0, " RESUME __VA_ARGS__); \
	} while (0)

/* FAULT if the last ATTEMPT() faulted. */
enum outcome outcome_of(enum outcome otherwise);

/* Accesses memory by the register as it is; reads if store is false. */
enum outcome access_by(enum segment segment, uint32_t address, uint32_t *value, bool store);

/* The attacks of this kind of guest only; the last has no name. */
extern const struct attack platform_attacks[];
/* Waits for a byte from the console. */
char platform_read(void);
/* Reads lines and runs the attacks they name, for ever. */
void attack_run(void);

#endif
