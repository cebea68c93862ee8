/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of tests, in the order in which they run: each may use what those
 * before it have set up.
 */
#ifndef SUITE_H
#define SUITE_H

#include "tap.h"

extern const struct tap_group group_boot, group_tables, group_exceptions, group_control,
	group_debug, group_ports, group_interrupts, group_paging, group_spaces, group_descriptors,
	group_user, group_float, group_hypercalls;

/* Runs what this image is for, and switches the machine off. */
void suite_run(void) __attribute__((noreturn));

/* Ends the test, with the reason, where there is no VMM. */
#define SKIP_NATIVE(reason) \
	do { \
		if (environment == NATIVE) { \
			tap_skip(reason); \
			return; \
		} \
	} while (0)

#endif
