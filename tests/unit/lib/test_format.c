/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's printf. The patterns are checked by the compiler as well.
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
	check("a string, b", "a %s, %s", "string", "b");
	check("0 1 10 4294967295", "%u %u %u %u", 0, 1, 10, UINT32_MAX);
	check("0 f 10 ffffffff", "%x %x %x %x", 0, 15, 16, UINT32_MAX);
}

static void wide_conversions(void **state)
{
	(void)state;
	check("18446744073709551615", "%llu", 18446744073709551615ull);
	check("ffffffffffffffff", "%llx", 18446744073709551615ull);
	check("1 100000000 2", "%u %llx %u", 1, 0x100000000ull, 2);
}

static void zeroes_in_front(void **state)
{
	(void)state;
	check("0000002a", "%08x", 42);
	check("12345678", "%04x", 0x12345678);
	check("0042 00", "%04u %02x", 42, 0);
	check("0000000000000010", "%016llx", 16ull);
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
	assert_int_equal(format(text, 8, "%0200u", 1), 7);
	assert_string_equal(text, "0000000");
}

static char sent[100];

static void send(char character)
{
	sent[strlen(sent)] = character;
}

__attribute__((format(printf, 1, 2))) static void send_each(const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	format_each(send, pattern, arguments);
	va_end(arguments);
}

static void one_by_one(void **state)
{
	(void)state;
	send_each("guest %s: %04x, ", "lab", 0x2a);
	send_each("%llu%s", 18446744073709551615ull, "");
	assert_string_equal(sent, "guest lab: 002a, 18446744073709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_conversions),
		cmocka_unit_test(wide_conversions),
		cmocka_unit_test(zeroes_in_front),
		cmocka_unit_test(cut_off_at_the_end),
		cmocka_unit_test(one_by_one),
	};

	return RUN_TESTS(tests);
}
