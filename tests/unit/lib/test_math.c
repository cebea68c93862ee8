/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 64-bit arithmetic against the host compiler's 64 and 128 bits.
 */
#include "unit.h"

#include "lib/math.h"

static const u64 values[] = {
	0, 1, 2, 999, 1000, UINT32_MAX - 1ull, UINT32_MAX, UINT32_MAX + 1ull,
	0x123456789abcdefull, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX,
};

static const u32 divisors[] = { 1, 2, 3, 10, 1000, 596591, 0x7fffffff, 0x80000000, UINT32_MAX };

static void division_agrees_with_the_host(void **state)
{
	u32 remainder;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(divisors); j++) {
			remainder = 12345;
			assert_int_equal(divide_u64(values[i], divisors[j], &remainder),
					 values[i] / divisors[j]);
			assert_int_equal(remainder, values[i] % divisors[j]);
		}
	}
}

static void division_needs_no_remainder(void **state)
{
	(void)state;
	assert_int_equal(divide_u64(100, 7, NULL), 14);
}

static void check_product(u64 value, u32 multiplier, u32 divisor)
{
	unsigned __int128 product = (unsigned __int128)value * multiplier;
	unsigned __int128 down = product / divisor;
	unsigned __int128 up = (product + divisor - 1) / divisor;

	assert_int_equal(multiply_divide(value, multiplier, divisor),
			 down > UINT64_MAX ? UINT64_MAX : (u64)down);
	assert_int_equal(multiply_divide_up(value, multiplier, divisor),
			 up > UINT64_MAX ? UINT64_MAX : (u64)up);
}

static void products_agree_with_the_host(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		for (size_t j = 0; j < ARRAY_SIZE(divisors); j++)
			for (size_t k = 0; k < ARRAY_SIZE(divisors); k++)
				check_product(values[i], divisors[j], divisors[k]);
}

static void random_products_agree_with_the_host(void **state)
{
	u32 random = 1;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		u64 value = (u64)random_next(&random) << 32 | random_next(&random);
		u32 multiplier = random_next(&random) >> (i % 32);

		check_product(value >> (i % 64), multiplier, random_next(&random) | 1);
	}
}

static void all_that_wait_have_their_turns(void **state)
{
	(void)state;
	assert_int_equal(turn_behind(0, 1), 0);
	assert_int_equal(turn_behind(31, 1u << 31), 31);
	for (u32 turn = 0; turn < 32; turn++)
		assert_int_equal(turn_behind(turn, ~0u), (turn + 1) % 32);
	assert_int_equal(turn_behind(3, 0x8a), 7);
	assert_int_equal(turn_behind(7, 0x8a), 1);
	assert_int_equal(turn_behind(2, 0x8a), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(division_agrees_with_the_host),
		cmocka_unit_test(division_needs_no_remainder),
		cmocka_unit_test(products_agree_with_the_host),
		cmocka_unit_test(random_products_agree_with_the_host),
		cmocka_unit_test(all_that_wait_have_their_turns),
	};

	return RUN_TESTS(tests);
}
