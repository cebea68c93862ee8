/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that an RTOS guest must be stopped for, each with a name. The
 * demo's command `crash` and the test guests bad-NAME.elf commit them.
 */
#ifndef MISDEED_H
#define MISDEED_H

#include <stdbool.h>

struct misdeed {
	const char *name;
	const char *text; /* what it does, for a list */
	/* Returns only if the VMM let it pass. */
	void (*commit)(void);
	/* Only segment limits stop it. */
	bool needs_limits;
};

/* Ends with an entry whose name is NULL. */
extern const struct misdeed misdeeds[];

/* False under QEMU's TCG, which does not enforce segment limits, for what only
 * they stop: there the write would reach its target. */
bool misdeed_possible(const struct misdeed *misdeed);

/* NULL if there is none of that name. */
const struct misdeed *misdeed_find(const char *name);

#endif
