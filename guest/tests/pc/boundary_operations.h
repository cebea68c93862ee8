/* SPDX-License-Identifier: Apache-2.0 */
/* What pc-boundaries.elf has the VMM do in its rounds. */
#ifndef BOUNDARY_OPERATIONS_H
#define BOUNDARY_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef void operation_function(void);

struct operation {
	const char *name;
	operation_function *execute; /* boundary.S; or a function */
	void (*prepare)(void);       /* the same state again before each round */
	bool is_long;
};

/* What an operation of boundary.S is given. */
extern uint32_t boundary_arguments[4];
/* The last has no name. */
extern const struct operation boundary_operations[];

void boundary_prepare_nothing(void);

#endif
