/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether the floating-point state survives what happens around a guest or
 * a task: load a pattern, let others run, check it. The code in between must be
 * compiled with -mgeneral-regs-only.
 */
#ifndef FLOAT_CHECK_H
#define FLOAT_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that FXSAVE writes. */
#define FLOAT_STATE_SIZE 512

struct float_state {
	uint8_t bytes[FLOAT_STATE_SIZE] __attribute__((aligned(16)));
};

/* Fills all eight x87 registers, those of SSE if the CPU has them, and the
 * rounding modes with a pattern. Different seeds give different patterns. */
void float_load(struct float_state *state, uint32_t seed);

/* Returns whether the registers still hold what float_load() put there from *state. */
bool float_check(const struct float_state *state);

/* Returns whether the CPU has the registers of SSE. */
bool float_has_sse(void);

#endif
