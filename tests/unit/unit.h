/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: cmocka and the headers that it needs before it.
 */
#ifndef GANDALF_UNIT_H
#define GANDALF_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/types.h"

#define RUN_TESTS(tests) cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)

/* A fixed sequence of numbers that look random: the same tests every time. */
static inline u32 random_next(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

#endif
