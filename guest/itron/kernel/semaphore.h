/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores.
 */
#ifndef SEMAPHORE_H
#define SEMAPHORE_H

#include "wait.h"

struct semaphore {
	struct wait_queue queue;
	UINT count;
};

extern struct semaphore semaphore_control[];
extern const ID semaphore_count;

void semaphore_init(void);

#endif
