/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-attack.elf: what its attacks share. A line of its console names one of them
 * and has its arguments, hexadecimal numbers.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include "machine.h"

#define ARGUMENTS 6

struct attack {
	const char *name;
	/* May return: then it was refused, or did nothing. */
	void (*run)(const uint32_t *arguments);
};

/* Each ends with one that has no name. */
extern const struct attack attacks_upcall[], attacks_vectors[], attacks_pages[], attacks_vm86[],
	attacks_software[], attacks_call[];

/* Code of attack_ring0.S for the VMM to run into: in ring 0 it writes to the address and resets
 * the machine, in ring 1 it waits for ever. */
extern char payload[];
extern uint32_t payload_target;
/* Has the first words of page 0, where a VMM that follows a NULL pointer looks, lead to it. */
void payload_lay(uint32_t target);

/* Programs both 8259s (ICW2 and ICW4) and masks all their lines. */
void pic_program(uint8_t master, uint8_t slave, uint8_t mode);
/* Has the VMM told the vectors of the 8259s: by one interrupt of the timer, which goes on. */
void vectors_show(void);
/* Waits, with interrupts disabled, until a line of the first 8259 has asked for one. */
void irq_await(uint16_t irqs);

#endif
