/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data queues.
 */
#ifndef DATAQUEUE_H
#define DATAQUEUE_H

#include "wait.h"

struct dataqueue {
	struct wait_queue senders, receivers;
	UINT first; /* index of the oldest element */
	UINT count;
};

extern struct dataqueue dataqueue_control[];
extern const ID dataqueue_count;

void dataqueue_init(void);

#endif
