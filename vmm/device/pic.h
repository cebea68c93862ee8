/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual pair of 8259A interrupt controllers of one guest (Intel 8259A data sheet). The second
 * one is cascaded to line 2 of the first, as in every PC. The guest's devices raise and lower the
 * lines, and the vCPU asks for the vector to deliver.
 *
 * Of the chip's modes it has those that PC systems use: edge-triggered lines, fixed priorities, and
 * specific, non-specific and automatic EOI.
 */
#pragma once

#include "lib/types.h"

struct pic {
	u8 lines;          /* levels of the inputs */
	/* The chip's registers IRR, ISR and IMR. Line 2 of the first chip's IRR is not kept
	 * here. */
	u8 request, service, mask;
	u8 vector_base;    /* vector of input 0 */
	u8 expected;       /* the initialisation word (ICW1 to ICW4) that comes next; 0: none */
	bool automatic_eoi;
	bool read_service; /* reads give ISR and not IRR, as the guest has chosen by OCW3 */
};

struct pic_pair {
	struct pic chip[2];
};

void pic_reset(struct pic_pair *pair);

/* Sets the level of an input, 0 to 15. Input 2 is the cascade, for which nothing happens. */
void pic_set_line(struct pic_pair *pair, unsigned line, bool level);

/* Returns the level of an input. */
static inline bool pic_line(const struct pic_pair *pair, unsigned line)
{
	return (pair->chip[line / 8 & 1].lines & 1u << (line & 7)) != 0;
}

/* Returns the vector that would be delivered now, or -1. */
int pic_pending(const struct pic_pair *pair);

/*
 * Performs the interrupt-acknowledge cycle: takes the most urgent request into service and returns
 * its vector. If no request is left, it returns the vector of input 7 of the first chip and takes
 * nothing into service. That is so for a lost request of the second chip, too, whose request at
 * line 2 goes with it.
 */
int pic_acknowledge(struct pic_pair *pair);

/* Read and write ports 0x20, 0x21, 0xa0 and 0xa1. Other ports read as 0xff and ignore writes. */
u8 pic_read(const struct pic_pair *pair, u16 port);
void pic_write(struct pic_pair *pair, u16 port, u8 value);
