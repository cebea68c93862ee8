/* SPDX-License-Identifier: Apache-2.0 */
/* Has bytes of code emulated as the guest's instruction, and says what is to come of it. */
#pragma once

#include "fake/emulate.h"

/* A #GP with this error code at these bytes. */
static inline void fault_at(const char *bytes, u32 size, u32 error)
{
	memset(linear_at(CODE), 0x90, 64);
	linear_put(CODE, bytes, size);
	frame.eip = CODE;
	enter(error);
}

/* It was emulated, and the guest goes on behind it. */
#define EXECUTE(bytes)                                                      \
	do {                                                                \
		fault_at(bytes, sizeof(bytes) - 1, 0);                      \
		assert_int_equal(frame.eip, CODE + sizeof(bytes) - 1);      \
		assert_int_equal(asked.stops, 0);                                 \
	} while (0)

/* The guest got an exception instead. */
#define FAULTS(bytes, vector)                                               \
	do {                                                                \
		fault_at(bytes, sizeof(bytes) - 1, 0);                      \
		assert_int_equal(frame.eip, HANDLER(vector));               \
		assert_int_equal(word(frame.esp + 4), CODE);                \
		assert_int_equal(asked.stops, 0);                                 \
		frame.esp = STACK;                                          \
	} while (0)

/* What an IRET is to take from the stack of the guest's kernel. */
static inline void put_return(u32 eip, u32 cs, u32 eflags, u32 esp, u32 ss)
{
	const u32 words[] = { eip, cs, eflags, esp, ss };

	linear_put(STACK, words, sizeof(words));
	frame.esp = STACK;
	frame.cs = KERNEL_CODE | 1;
	frame.ss = KERNEL_STACK | 1;
	frame.eflags = EFLAGS_FIXED | EFLAGS_IF;
}
