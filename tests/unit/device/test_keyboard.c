/* SPDX-License-Identifier: Apache-2.0 */
/* What a PC's keyboard types. The layout has a key of each kind; the host tool's are its own. */
#include "unit.h"

#include <string.h>

#include "device/keyboard.h"

enum { KEY_A = 0x1e, KEY_2 = 0x03, KEY_SPACE = 0x39, KEY_ENTER = 0x1c, KEY_F12 = 0x58 };
enum { SHIFT = 0x2a, SHIFT_RIGHT = 0x36, CONTROL = 0x1d, ALT = 0x38, CAPITALS = 0x3a };
enum { NUMBERS = 0x45, PAD_7 = 0x47, PAD_3 = 0x51, KEY_E = 0x12, KEY_O = 0x27 };
enum { UP = 0x80, PREFIX = 0xe0, PREFIX_OF_PAUSE = 0xe1 };

#define SEQUENCE(end) (GANDALF_KEY_SEQUENCE + (end))
#define SAME(value) { { value, value, value }, 0 }
#define HELD(bit) SAME(GANDALF_KEY_HELD + (bit))

static const struct gandalf_key keys[2][GANDALF_KEYS] = {
	{
		[KEY_A] = { { 'a', 'A', 0 }, GANDALF_LOCK_CAPITALS },
		[KEY_2] = { { '2', '"', 0xb2 }, 0 },
		[KEY_E] = { { 'e', 'E', 0x20ac }, GANDALF_LOCK_CAPITALS },
		[KEY_O] = { { 0xf6, 0xd6, 0 }, GANDALF_LOCK_CAPITALS },
		[KEY_SPACE] = SAME(' '),
		[KEY_ENTER] = SAME('\r'),
		[KEY_F12] = SAME(SEQUENCE(0x24)),
		[PAD_7] = { { SEQUENCE('H'), '7', SEQUENCE('H') }, GANDALF_LOCK_NUMBERS },
		[PAD_3] = { { SEQUENCE(6), '3', SEQUENCE(6) }, GANDALF_LOCK_NUMBERS },
		[SHIFT] = HELD(1),
		[SHIFT_RIGHT] = HELD(2),
		[CONTROL] = HELD(4),
		[ALT] = HELD(GANDALF_HELD_ALT),
		[CAPITALS] = SAME(GANDALF_KEY_LOCK + GANDALF_LOCK_CAPITALS),
		[NUMBERS] = SAME(GANDALF_KEY_LOCK + GANDALF_LOCK_NUMBERS),
	},
	{
		[KEY_ENTER] = SAME('\r'),
		[PAD_7] = SAME(SEQUENCE('H')),
		[CONTROL] = HELD(8),
		[ALT] = HELD(GANDALF_HELD_ALT_GRAPH),
	},
};

static struct keyboard keyboard;
static char typed[200];
static u32 length;

static int setup(void **state)
{
	(void)state;
	memset(&keyboard, 0, sizeof(keyboard));
	return 0;
}

/* Takes codes up to the first 0, and returns what they type. */
static const char *take(const char *codes)
{
	u8 bytes[KEYBOARD_BYTES];

	length = 0;
	for (; *codes != '\0'; codes++) {
		u32 count = keyboard_take(&keyboard, keys, (u8)*codes, bytes);

		assert_true(count <= KEYBOARD_BYTES);
		memcpy(&typed[length], bytes, count);
		length += count;
	}
	typed[length] = '\0';
	return typed;
}

#define TAKE(...) take((const char[]){ __VA_ARGS__, 0 })
#define TYPES(text, ...) assert_string_equal(TAKE(__VA_ARGS__), text)

static void keys_type_when_they_are_pressed(void **state)
{
	(void)state;
	TYPES("a", KEY_A);
	TYPES("", (char)(KEY_A | UP));
	TYPES("2\r", KEY_2, (char)(KEY_2 | UP), KEY_ENTER);
	TYPES("\xc3\xb6", KEY_O);
	TYPES("", 0x7f, 0x01, (char)0xfa);
}

static void either_shift_key_shifts(void **state)
{
	(void)state;
	TYPES("A\"A", SHIFT, KEY_A, KEY_2, SHIFT_RIGHT, (char)(SHIFT | UP), KEY_A);
	TYPES("a", (char)(SHIFT_RIGHT | UP), KEY_A);
	TYPES("\xc3\x96", SHIFT, KEY_O);
}

static void caps_lock_is_for_letters(void **state)
{
	(void)state;
	TYPES("A2", CAPITALS, (char)(CAPITALS | UP), KEY_A, KEY_2);
	TYPES("a", SHIFT, KEY_A);
	TYPES("a", (char)(SHIFT | UP), CAPITALS, KEY_A);
}

static void num_lock_is_for_the_number_pad(void **state)
{
	(void)state;
	TYPES("\x1b[H\x1b[6~", PAD_7, PAD_3);
	TYPES("73a", NUMBERS, PAD_7, PAD_3, KEY_A);
	TYPES("\x1b[H", SHIFT, PAD_7);
	TYPES("\x1b[H", (char)(SHIFT | UP), (char)PREFIX, PAD_7);
}

static void control_makes_control_characters(void **state)
{
	(void)state;
	TYPES("\x01", CONTROL, KEY_A);
	TYPES("2", KEY_2);
	assert_int_equal((TAKE(KEY_SPACE), length), 1);
	assert_int_equal(typed[0], 0);
	TYPES("\x01", (char)PREFIX, CONTROL, (char)(CONTROL | UP), KEY_A);
	TYPES("a", (char)PREFIX, (char)(CONTROL | UP), KEY_A);
}

static void alt_sends_escape_and_alt_graph_has_characters(void **state)
{
	(void)state;
	TYPES("\x1b" "a\x1b\x1b[24~", ALT, KEY_A, KEY_F12);
	TYPES("a", (char)(ALT | UP), KEY_A);
	TYPES("\xe2\x82\xac\xc2\xb2", (char)PREFIX, ALT, KEY_E, KEY_2);
	TYPES("", KEY_A);
	TYPES("e", (char)PREFIX, (char)(ALT | UP), KEY_E);
}

/* Around some keys with a prefix a keyboard says that shift keys with one are pressed. */
static void shift_keys_with_a_prefix_are_nobodys(void **state)
{
	(void)state;
	TYPES("\x1b[Ha", (char)PREFIX, SHIFT, (char)PREFIX, PAD_7, KEY_A);
	TYPES("\rA", SHIFT, (char)PREFIX, (char)(SHIFT | UP), (char)PREFIX, KEY_ENTER, KEY_A);
}

/* Pause is the codes of Ctrl and Num Lock behind another prefix. */
static void pause_does_nothing(void **state)
{
	(void)state;
	TYPES("a\x1b[H", (char)PREFIX_OF_PAUSE, CONTROL, NUMBERS, (char)PREFIX_OF_PAUSE,
	      (char)(CONTROL | UP), (char)(NUMBERS | UP), KEY_A, PAD_7);
}

static void the_prefix_is_for_one_key(void **state)
{
	(void)state;
	TYPES("\x1b[HA", (char)PREFIX, PAD_7, SHIFT, KEY_A);
	TYPES("A", (char)PREFIX, KEY_A, KEY_A);
}

#define TEST(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_type_when_they_are_pressed),
		TEST(either_shift_key_shifts),
		TEST(caps_lock_is_for_letters),
		TEST(num_lock_is_for_the_number_pad),
		TEST(control_makes_control_characters),
		TEST(alt_sends_escape_and_alt_graph_has_characters),
		TEST(shift_keys_with_a_prefix_are_nobodys),
		TEST(pause_does_nothing),
		TEST(the_prefix_is_for_one_key),
	};

	return RUN_TESTS(tests);
}
