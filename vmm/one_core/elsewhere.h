/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control of guests on other cores, in an image for one core: nothing is elsewhere.
 * many_cores/elsewhere.h is the other one.
 */
#pragma once

#include "core/vm.h"

static inline bool elsewhere_tells_rate(UNUSED u32 *rate)
{
	return false;
}

static inline bool vm_is_elsewhere(UNUSED const struct vm *vm)
{
	return false;
}

static inline int elsewhere_act(UNUSED struct vm *vm, UNUSED u32 action, UNUSED u32 size,
				UNUSED u32 entry, UNUSED u32 crc)
{
	return GANDALF_ERROR_ARGUMENT;
}

static inline int elsewhere_write(UNUSED struct vm *vm, UNUSED u32 object, UNUSED u32 offset,
				  UNUSED const u8 *bytes, UNUSED u32 size)
{
	return GANDALF_ERROR_ARGUMENT;
}

static inline int elsewhere_takes_back(UNUSED const struct vm *vm, UNUSED u32 offset)
{
	return 0;
}

static inline bool elsewhere_loads(UNUSED const struct vm *vm)
{
	return false;
}

static inline void elsewhere_attend(void)
{
}

static inline void elsewhere_learns(UNUSED const struct vm *vm)
{
}
