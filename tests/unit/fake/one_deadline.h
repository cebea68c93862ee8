/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines, where the code under test has one only. A test looks at when it expires, and has it
 * expire by calling it.
 */
#ifndef GANDALF_UNIT_ONE_DEADLINE_H
#define GANDALF_UNIT_ONE_DEADLINE_H

#include "core/time.h"

static struct deadline *the_deadline;

void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *), u32 priority)
{
	*deadline = (struct deadline){.time = TIME_NEVER, .expire = expire, .priority = priority};
	the_deadline = deadline;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	assert_ptr_equal(deadline, the_deadline);
	deadline->time = time;
}

#endif
