/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event flags.
 */
#ifndef EVENTFLAG_H
#define EVENTFLAG_H

#include "wait.h"

struct eventflag {
	struct wait_queue queue;
	FLGPTN pattern;
};

extern struct eventflag eventflag_control[];
extern const ID eventflag_count;

void eventflag_init(void);

#endif
