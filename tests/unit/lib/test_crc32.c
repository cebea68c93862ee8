/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum against published values and a bit-by-bit computation.
 */
#include "unit.h"

#include <string.h>

#include "lib/crc32.h"

static void published_values(void **state)
{
	static const struct {
		const char *text;
		u32 crc;
	} cases[] = {
		{ "", 0x00000000 },
		{ "a", 0xe8b7be43 },
		{ "123456789", 0xcbf43926 },
		{ "The quick brown fox jumps over the lazy dog", 0x414fa339 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(crc32_update(0, cases[i].text, (u32)strlen(cases[i].text)),
				 cases[i].crc);
}

static u32 crc32_by_bits(const u8 *data, u32 size)
{
	u32 crc = UINT32_MAX;

	for (u32 i = 0; i < size; i++) {
		crc ^= data[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void every_byte_counts(void **state)
{
	u8 data[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (u8)i;
	assert_int_equal(crc32_update(0, data, sizeof(data)), crc32_by_bits(data, sizeof(data)));
	assert_int_equal(crc32_update(0, data, sizeof(data)), 0x29058c73);
}

static void pieces_give_the_same_as_the_whole(void **state)
{
	static const char text[] = "123456789";
	u32 crc;

	(void)state;
	for (u32 i = 0; i <= 9; i++) {
		crc = crc32_update(0, text, i);
		assert_int_equal(crc32_update(crc, text + i, 9 - i), 0xcbf43926);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_values),
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(pieces_give_the_same_as_the_whole),
	};

	return RUN_TESTS(tests);
}
