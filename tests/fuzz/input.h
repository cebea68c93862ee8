/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzzer is given, as the programs take it: a few bytes for each choice, the lowest first.
 */
#ifndef GANDALF_FUZZ_INPUT_H
#define GANDALF_FUZZ_INPUT_H

#include "lib/types.h"

struct input {
	const u8 *data;
	size_t size;
};

/* The next bytes, at most 4; behind the end there are zeros. */
static inline u32 input_take(struct input *input, unsigned bytes)
{
	u32 value = 0;

	for (unsigned i = 0; i < bytes && input->size > 0; i++, input->size--)
		value |= (u32)*input->data++ << 8 * i;
	return value;
}

#endif
