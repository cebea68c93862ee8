/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual pair of 8259A interrupt controllers of one guest, the second one
 * cascaded to line 2 of the first as in every PC. The devices of the guest
 * raise and lower its lines; the vCPU asks it for the vector to deliver.
 *
 * Of the chip's modes it has those that PC systems use: edge-triggered lines,
 * fixed priorities, EOI of all three kinds.
 */
#pragma once

#include "lib/types.h"

struct pic {
	u8 lines;          /* levels of the inputs */
	/* IRR, the first chip's without its line 2; ISR; IMR. */
	u8 request, service, mask;
	u8 vector_base;
	u8 expected;       /* ICW that comes next, 1 to 4; 0: the chip is in operation */
	bool automatic_eoi;
	bool read_service; /* OCW3: reads give ISR, otherwise IRR */
};

struct pic_pair {
	struct pic chip[2];
};

void pic_reset(struct pic_pair *pair);

/* Sets the level of input 0..15; line 2 is the cascade and is ignored. */
void pic_set_line(struct pic_pair *pair, unsigned line, bool level);

/* The vector that would be delivered now, or -1. Changes nothing. */
int pic_pending(const struct pic_pair *pair);

/*
 * The interrupt-acknowledge cycle: takes the request with the highest priority
 * into service and returns its vector. If the request has gone since
 * pic_pending(), that is the vector of input 7, with nothing in service (the
 * cascade follows its chip at once, so a lost request there ends as 7, too).
 */
int pic_acknowledge(struct pic_pair *pair);

/* Ports 0x20, 0x21, 0xa0, 0xa1; others read 0xff. */
u8 pic_read(const struct pic_pair *pair, u16 port);
void pic_write(struct pic_pair *pair, u16 port, u8 value);
