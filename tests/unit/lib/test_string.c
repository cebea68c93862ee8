/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's string functions, under names of their own beside the host's.
 */
#include "unit.h"

#include <string.h>

#define memcpy vmm_memcpy
#define memmove vmm_memmove
#define memset vmm_memset
#define memcmp vmm_memcmp
#define strnlen vmm_strnlen
#include "lib/string.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strnlen

#define SIZE 40

static void fill(u8 *bytes)
{
	for (unsigned i = 0; i < SIZE; i++)
		bytes[i] = (u8)(i + 1);
}

static void copies_of_every_size_and_alignment(void **state)
{
	u8 from[SIZE];
	u8 to[SIZE];

	(void)state;
	fill(from);
	for (size_t start = 0; start < 4; start++) {
		for (size_t size = 0; size < 20; size++) {
			memset(to, 0, sizeof(to));
			assert_ptr_equal(vmm_memcpy(to + 4, from + start, size), to + 4);
			assert_memory_equal(to + 4, from + start, size);
			assert_int_equal(to[3], 0);
			assert_int_equal(to[4 + size], 0);
		}
	}
}

static void moves_between_overlapping_places(void **state)
{
	u8 bytes[SIZE];
	u8 expected[SIZE];

	(void)state;
	for (size_t from = 0; from < 12; from++) {
		for (size_t to = 0; to < 12; to++) {
			fill(bytes);
			fill(expected);
			memmove(expected + to, expected + from, 17);
			assert_ptr_equal(vmm_memmove(bytes + to, bytes + from, 17), bytes + to);
			assert_memory_equal(bytes, expected, SIZE);
		}
	}
}

static void sets_of_every_size(void **state)
{
	u8 bytes[SIZE];
	u8 expected[SIZE];

	(void)state;
	for (size_t size = 0; size < 20; size++) {
		fill(bytes);
		fill(expected);
		memset(expected + 3, 0xa5, size);
		assert_ptr_equal(vmm_memset(bytes + 3, 0x7a5, size), bytes + 3);
		assert_memory_equal(bytes, expected, SIZE);
	}
}

static void sets_words_of_every_number(void **state)
{
	u16 words[20];

	(void)state;
	for (u32 count = 0; count < 18; count++) {
		memset(words, 0, sizeof(words));
		memset_words(words + 1, 0x1234, count);
		for (u32 i = 0; i < 20; i++)
			assert_int_equal(words[i], i - 1 < count ? 0x1234 : 0);
	}
}

static void comparisons_are_of_unsigned_bytes(void **state)
{
	(void)state;
	assert_int_equal(vmm_memcmp("abc", "abd", 2), 0);
	assert_true(vmm_memcmp("abc", "abd", 3) < 0);
	assert_true(vmm_memcmp("\xff", "\x01", 1) > 0);
	assert_int_equal(vmm_memcmp("a", "b", 0), 0);
}

static void equal_strings_end_together(void **state)
{
	(void)state;
	assert_true(string_equals("", ""));
	assert_true(string_equals("four", "four"));
	assert_false(string_equals("four", "fou"));
	assert_false(string_equals("fou", "four"));
	assert_false(string_equals("four", "foul"));
}

static void lengths_stop_at_the_end_or_the_limit(void **state)
{
	(void)state;
	assert_int_equal(vmm_strnlen("four", 3), 3);
	assert_int_equal(vmm_strnlen("four", 4), 4);
	assert_int_equal(vmm_strnlen("four", 9), 4);
	assert_int_equal(vmm_strnlen("four", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_of_every_size_and_alignment),
		cmocka_unit_test(moves_between_overlapping_places),
		cmocka_unit_test(sets_of_every_size),
		cmocka_unit_test(sets_words_of_every_number),
		cmocka_unit_test(comparisons_are_of_unsigned_bytes),
		cmocka_unit_test(equal_strings_end_together),
		cmocka_unit_test(lengths_stop_at_the_end_or_the_limit),
	};

	return RUN_TESTS(tests);
}
