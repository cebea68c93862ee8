/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's printf. The patterns are checked by the compiler as well, but for
 * the last test, which needs wrong ones.
 */
#include "unit.h"

#include <string.h>

#include "lib/format.h"

#define check(expected, ...)                                                        \
	do {                                                                        \
		char text[100];                                                     \
		assert_int_equal(format(text, sizeof(text), __VA_ARGS__),           \
				 strlen(expected));                                 \
		assert_string_equal(text, expected);                                \
	} while (0)

static void plain_conversions(void **state)
{
	(void)state;
	check("", "%s", "");
	check("text", "text");
	check("a string, b", "a %s, %c", "string", 'b');
	check("100%", "%u%%", 100);
	check("-1 0 2147483647 -2147483648", "%d %d %d %d", -1, 0, INT32_MAX, INT32_MIN);
	check("4294967295 ffffffff", "%u %x", UINT32_MAX, UINT32_MAX);
}

static void wide_conversions(void **state)
{
	(void)state;
	check("18446744073709551615", "%llu", 18446744073709551615ull);
	check("ffffffffffffffff", "%llx", 18446744073709551615ull);
	check("-9223372036854775808", "%lld", -9223372036854775807ll - 1);
	check("1 100000000 2", "%d %llx %d", 1, 0x100000000ull, 2);
}

static void fields(void **state)
{
	(void)state;
	check("0000002a", "%08x", 42);
	check("      2a", "%8x", 42);
	check("2a      |", "%-8x|", 42);
	check("-0042 |  -42", "%05d |%5d", -42, -42);
	check("  abc|abc  |abcdef", "%5s|%-5s|%3s", "abc", "abc", "abcdef");
	check("0000000000000010", "%016llx", 16ull);
	check("  x", "%3c", 'x');
}

static void cut_off_at_the_end(void **state)
{
	char text[8] = "1234567";

	(void)state;
	assert_int_equal(format(text, 5, "%s", "abcdefgh"), 4);
	assert_string_equal(text, "abcd");
	assert_int_equal(text[5], '6');
	assert_int_equal(format(text, 1, "%u", 10), 0);
	assert_string_equal(text, "");
	assert_int_equal(format(text, 8, "%200u", 1), 7);
	assert_string_equal(text, "       ");
}

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
static void unknown_conversions_are_copied(void **state)
{
	(void)state;
	check("%q 5%", "%q %d%", 5);
	check("%-7.", "%-7.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_conversions),
		cmocka_unit_test(wide_conversions),
		cmocka_unit_test(fields),
		cmocka_unit_test(cut_off_at_the_end),
		cmocka_unit_test(unknown_conversions_are_copied),
	};

	return RUN_TESTS(tests);
}
