/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pc-moves.elf is made of: moves.c has the rounds, move_operations.c the operations that are
 * not those of boundary_operations.c.
 */
#ifndef MOVES_H
#define MOVES_H

#include "boundary_operations.h"
#include "vcpus.h"

/* The vCPUs, and the CPUs between which the second one moves. */
enum { FIRST, SECOND };
enum { HOME = 1, AWAY };

/* Interrupts, by their place among those of IPIS: from the first vCPU to the second and the other
 * way round, from the second to itself, and that of its local APIC's timer. */
enum { MOVE_WAKES, MOVE_TELLS, MOVE_OWN, MOVE_TIMER, MOVE_INTERRUPTS };

/* What differs from round to round, in a page of its own. Stacks do, too. */
struct private {
	uint32_t stack; /* boundary.S; must be the first */
	struct {        /* measure/moves.c */
		uint32_t mark, operation, at;
		volatile uint32_t go, astray;
	} label;
	/* What the second vCPU asks the first for: to have it move to a CPU, and to
	 * interrupt it; and what it is told: it has been moved because of `go`. */
	volatile uint32_t wanted, wake_wanted, moved;
	/* Of the first: where it has last sent the second, and how often elsewhere;
	 * requests in vain, at most; and looks since it is to interrupt it. */
	uint32_t cpu, moves, asked, looks;
	const char *volatile wrong; /* the first mistake; or NULL */
	volatile uint32_t began; /* the low half of a round's first time stamp */
	uint64_t timer_began, timer_came;
	bool moves_anyway; /* it moves in a round in which nothing is hit */
	uint32_t rounds;   /* of the operation, in which it has moved */
	/* An operation whose rounds are over, until the first vCPU has told of it. */
	uint32_t number;
	const char *volatile name;
	volatile bool is_over; /* all are */
} __attribute__((aligned(PAGE_SIZE)));
extern struct private boundary_private;

/* Interrupts that have come in this round. They are compared. */
extern volatile uint32_t move_interrupts[MOVE_INTERRUPTS];

/* Notes what is wrong, if nothing is yet. */
void move_expect(bool held, const char *text);
/* Has the second vCPU, which calls it, move to a CPU; or go away and come home again. */
void move_to(uint32_t cpu);
void move_home(void);

/* The operations that a vCPU has which is not the only one. The last has no name. */
extern const struct operation move_operations[];
/* Called for each interrupt by the timer. */
void move_timer_came(void);

#endif
