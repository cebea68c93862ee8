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
	const char *text; /* what the misdeed does, for a list */
	/* Commits it, and returns only if the VMM let it pass. */
	void (*commit)(void);
	/* True if nothing but segment limits stops it, where those are what keeps an RTOS in. */
	bool needs_limits;
};

/* The list of misdeeds, which ends with an entry whose name is NULL. */
extern const struct misdeed misdeeds[];

/* Returns whether the misdeed is stopped here. QEMU's TCG does not enforce segment
 * limits, so what only they stop would reach its target there. In ring 3 pages stop it. */
bool misdeed_possible(const struct misdeed *misdeed);

/* Returns the misdeed of that name, or NULL if there is none. */
const struct misdeed *misdeed_find(const char *name);

#endif
