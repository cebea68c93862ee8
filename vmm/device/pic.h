/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual pair of 8259A interrupt controllers of one guest, the second one
 * cascaded to line 2 of the first as in every PC. The devices of the guest
 * raise and lower its lines; the vCPU asks it for the vector to deliver.
 */
#ifndef GANDALF_PIC_H
#define GANDALF_PIC_H

#include "lib/types.h"

/* One 8259A. Zeroes are a chip that has not been initialised. */
struct pic {
	u8 lines;         /* levels of the inputs */
	u8 request;       /* IRR */
	u8 service;       /* ISR */
	u8 mask;          /* IMR */
	u8 level;         /* ELCR: inputs that are level triggered */
	u8 vector_base;
	u8 lowest;        /* input with the lowest priority; 7 after a reset */
	u8 initialise;    /* ICW expected next: 0 (none), 2, 3, 4 */
	bool needs_icw4;
	bool single;      /* ICW1: no second chip */
	bool all_level;   /* ICW1: LTIM */
	bool ready;       /* ICW1 to ICW4 have been given */
	bool automatic_eoi;
	bool rotate_on_automatic_eoi;
	bool special_nested;
	bool read_service; /* OCW3: reads give ISR, otherwise IRR */
	bool poll;         /* OCW3: the next read is a poll */
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

/* Ports 0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1; others read 0xff. */
u8 pic_read(struct pic_pair *pair, u16 port);
void pic_write(struct pic_pair *pair, u16 port, u8 value);

#endif
