/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pc-siblings.elf is made of: a hostile kernel with two vCPUs on two cores, which attack at
 * once. siblings.c starts the second one and runs the attacks; those on page tables are in
 * siblings_tables.c, those by interrupts, local APICs and hypercalls in siblings_messages.c. What
 * the second one does at a chosen instruction of the VMM on the first is in siblings_crossings.c.
 */
#ifndef SIBLINGS_H
#define SIBLINGS_H

#include "tap.h"
#include "vcpus.h"

#define SIBLINGS 2

/* Of a sequence of the vCPU that asks. */
uint32_t random_next(void);

/* How long one vCPU waits for the other: by far longer than a busy host keeps a thread from its
 * CPU, and not for ever, as a VMM that does so would. */
#define PATIENCE_MS 20000U

/* How often each vCPU has done what an attack is about. */
extern volatile uint32_t did[SIBLINGS];
/* Whether the attack that runs is to go on: each lasts some milliseconds. */
bool attack_goes_on(void);
/* Has both vCPUs attack until attack_goes_on() is false, and sees that each did so `enough` times
 * at least. Fails the test if the second does not end. */
void attack_together(void (*first)(void), void (*second)(void), uint32_t enough);

/* Starts the second vCPU anew, wherever it is. Returns what the VMM says. */
int32_t sibling_restart(void);
/* Waits until it has begun. Returns false if it does not. */
bool sibling_awaited(void);
/* Has it do something once. */
void sibling_begin(void (*what)(void));
/* Waits until it has done that. Returns false if it does not end. */
bool sibling_ended(void);
/* Has it ask for ports and interrupt the first one without end, or not. */
extern volatile bool sibling_floods;

/* Called for each interrupt by the highest IPI vector, which flushes. */
#define IPI_FLUSH (IPIS - 1)
extern void (*flush_hook)(void);
/* Interrupts that each vCPU has had, by the vector's place among those of IPIs. */
extern volatile uint32_t ipi_count[SIBLINGS][IPIS];

extern const struct tap_group group_tables_together, group_messages_together, group_crossings,
	group_long_crossings;

#endif
