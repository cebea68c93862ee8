/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: the ticks since the start, what is to happen at one of them, and the system time, which
 * is the same with an offset.
 */
#ifndef ITRON_TIME_H
#define ITRON_TIME_H

#include "itron.h"
#include "list.h"

struct timeout {
	struct link link; /* in the queue, the one that is due first in front */
	UW due;		  /* tick; compared by its distance from now, so that it may wrap */
	void (*expire)(struct timeout *timeout);
};

void time_init(void);
void timeout_init(struct timeout *timeout, void (*expire)(struct timeout *timeout));

/* Lets it expire in `delay` ms or up to one more: the present tick has begun already. Costs one
 * comparison for each time-out that is due earlier. Interrupts disabled. */
void timeout_start(struct timeout *timeout, RELTIM delay);

/* Lets it expire `delay` ms after it was due the last time. */
void timeout_restart(struct timeout *timeout, RELTIM delay);

/* It need not have been started. */
void timeout_stop(struct timeout *timeout);

/* The timer's handler, unless the application defines one. */
void time_interrupt(void);

#endif
