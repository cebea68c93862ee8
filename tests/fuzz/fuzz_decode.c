/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the instruction decoder, which reads whatever a guest has at its
 * instruction pointer. The first byte says how many of the others may be read.
 */
#include <stdlib.h>
#include <string.h>

#include "guests/x86/decode.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* What each user of the decoder relies on. */
static void check(const struct decoded *decoded, u32 available)
{
	require(decoded->operation > DECODED_UNKNOWN);
	require(decoded->operation < DECODED_OPERATIONS);
	require(decoded->length >= 1 && decoded->length <= available);
	require(decoded->length <= DECODE_LENGTH_MAXIMUM);
	require(decoded->size == 1 || decoded->size == 2 || decoded->size == 4);
	require(decoded->segment <= SEGMENT_GS);
	require(decoded->reg <= 7 && decoded->rm <= 7);
	require(decoded->base <= REGISTER_NONE && decoded->index <= REGISTER_NONE);
	if (decoded->operation == DECODED_MOV_TO_SREG)
		require(decoded->reg <= SEGMENT_GS && decoded->reg != SEGMENT_CS);
	if (decoded->operation == DECODED_LGDT || decoded->operation == DECODED_LIDT)
		require(decoded->has_memory);
	require(decoded->scale <= 3);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct decoded decoded;
	struct decoded again;
	enum decode_result result;
	u32 available;
	u8 *bytes;

	if (size == 0)
		return 0;
	available = data[0] % 24;
	if (available > size - 1)
		available = (u32)size - 1;
	/* A copy of its own, so that a read behind the end is found. */
	bytes = malloc(available + 1u);
	require(bytes != NULL);
	memcpy(bytes + 1, data + 1, available);
	result = decode(&decoded, bytes + 1, available);
	if (result == DECODE_OK) {
		check(&decoded, available);
		for (u32 less = 0; less < decoded.length; less++)
			require(decode(&again, bytes + 1, less) == DECODE_TRUNCATED);
		require(decode(&again, bytes + 1, decoded.length) == DECODE_OK);
		require(memcmp(&decoded, &again, sizeof(decoded)) == 0);
	} else if (result == DECODE_TRUNCATED) {
		require(available < DECODE_LENGTH_MAXIMUM);
	}
	free(bytes);
	return 0;
}
