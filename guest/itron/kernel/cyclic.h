/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic handlers.
 */
#ifndef CYCLIC_H
#define CYCLIC_H

#include "configuration.h"
#include "time.h"

struct cyclic {
	struct timeout timeout;
	bool operates;
};

extern struct cyclic cyclic_control[];
extern const ID cyclic_count;

void cyclic_init(void);

#endif
