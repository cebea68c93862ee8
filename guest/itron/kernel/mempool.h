/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-size memory pools.
 */
#ifndef MEMPOOL_H
#define MEMPOOL_H

#include "wait.h"

struct mempool {
	struct wait_queue queue;
	VP free;     /* the block given back last; its first word points to the one before */
	UINT unused; /* blocks from the end that nobody has had yet */
};

extern struct mempool mempool_control[];
extern const ID mempool_count;

void mempool_init(void);

#endif
