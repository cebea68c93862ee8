/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point patterns; see float_check.h. The image of FXSAVE (SDM vol. 1,
 * section 10.5.1) is written by hand and loaded whole, so no arithmetic and
 * no rounding stands between the pattern and the registers. A CPU without FXSAVE
 * has its registers of x87 in the image of FNSAVE (section 8.1.10).
 */
#include "float_check.h"

#include <string.h>

#define CONTROL 0	/* offsets in the image; 2 bytes */
#define TAGS 4		/* 1 byte, bit n: register n is in use */
#define MXCSR 24	/* 4 bytes */
#define REGISTER_X87 32 /* 8 of 10 bytes, 16 apart */
#define REGISTER_SSE 160 /* 8 of 16 bytes */

#define CONTROL_MASKED 0x037f /* all exceptions masked, 64-bit precision; bit 6 is always 1 */
#define CONTROL_ROUNDING_SHIFT 10
#define MXCSR_MASKED 0x1f80
#define MXCSR_ROUNDING_SHIFT 13
#define CPUID_FXSR (1U << 24)
#define CPUID_SSE (1U << 25)

struct fnsave_image {
	uint32_t control, status, tags, pointers[4];
	uint8_t registers[8][10];
};

static bool cpu_has(uint32_t feature)
{
	uint32_t a = 1, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d & feature;
}

bool float_has_sse(void)
{
	return cpu_has(CPUID_SSE);
}

/* Loads what of an image of FXSAVE is x87's. No register is empty: all tags are 0. */
static void fnsave_load(const struct float_state *state)
{
	struct fnsave_image image = { 0 };

	memcpy(&image.control, state->bytes + CONTROL, 2);
	for (unsigned int i = 0; i < 8; i++)
		memcpy(image.registers[i], state->bytes + REGISTER_X87 + i * 16, 10);
	__asm__ volatile("frstor %0" : : "m"(image));
}

/* Stores it, as FXSAVE would. */
static void fnsave_store(struct float_state *state)
{
	struct fnsave_image image;

	/* FNSAVE ends with FNINIT. */
	__asm__ volatile("fnsave %0\n\tfrstor %0" : "=m"(image));
	memset(state, 0, sizeof(*state));
	memcpy(state->bytes + CONTROL, &image.control, 2);
	memcpy(state->bytes + CONTROL + 2, &image.status, 2);
	state->bytes[TAGS] = (uint16_t)image.tags == 0 ? 0xff : 0;
	for (unsigned int i = 0; i < 8; i++)
		memcpy(state->bytes + REGISTER_X87 + i * 16, image.registers[i], 10);
}

/* A step of a linear congruential generator; the upper bits are good enough. */
static uint8_t pattern_next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return (uint8_t)(*state >> 24);
}

void float_load(struct float_state *state, uint32_t seed)
{
	uint32_t random = seed;
	uint16_t control = (uint16_t)(CONTROL_MASKED | (seed & 3) << CONTROL_ROUNDING_SHIFT);
	uint32_t mxcsr = MXCSR_MASKED | (seed & 3) << MXCSR_ROUNDING_SHIFT;

	memset(state, 0, sizeof(*state));
	memcpy(state->bytes + CONTROL, &control, sizeof(control));
	memcpy(state->bytes + MXCSR, &mxcsr, sizeof(mxcsr));
	state->bytes[TAGS] = 0xff;
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t *x87 = state->bytes + REGISTER_X87 + i * 16;
		uint8_t *sse = state->bytes + REGISTER_SSE + i * 16;

		for (unsigned int j = 0; j < 8; j++)
			x87[j] = pattern_next(&random);
		x87[7] |= 0x80; /* a normal number, so that its tag stays "valid" */
		x87[8] = (uint8_t)(i + 1);
		x87[9] = 0x3f;
		for (unsigned int j = 0; j < 16; j++)
			sse[j] = pattern_next(&random);
	}
	if (cpu_has(CPUID_FXSR))
		__asm__ volatile("fxrstor %0" : : "m"(*state));
	else
		fnsave_load(state);
}

bool float_check(const struct float_state *state)
{
	struct float_state now;

	if (cpu_has(CPUID_FXSR))
		__asm__ volatile("fxsave %0" : "=m"(now));
	else
		fnsave_store(&now);
	if (memcmp(now.bytes + CONTROL, state->bytes + CONTROL, 5))
		return false;
	for (unsigned int i = 0; i < 8; i++)
		if (memcmp(now.bytes + REGISTER_X87 + i * 16,
			   state->bytes + REGISTER_X87 + i * 16, 10))
			return false;
	if (!float_has_sse())
		return true;
	return !memcmp(now.bytes + MXCSR, state->bytes + MXCSR, 4) &&
	       !memcmp(now.bytes + REGISTER_SSE, state->bytes + REGISTER_SSE, 8 * 16);
}
