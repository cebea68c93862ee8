/* SPDX-License-Identifier: Apache-2.0 */
/* A PC's keyboard. Of its codes of set 1 those are known here that are no key's. */
#include "device/keyboard.h"

#include "device/escape.h"

enum { PREFIX = 0xe0, PREFIX_OF_PAUSE = 0xe1, CODES_OF_PAUSE = 2, RELEASED = 0x80 };

/* Writes a character as UTF-8. */
static u8 *character_write(u8 *to, u32 character)
{
	if (character < 0x80) {
		*to++ = (u8)character;
		return to;
	}
	if (character < 0x800) {
		*to++ = (u8)(0xc0 | character >> 6);
	} else {
		*to++ = (u8)(0xe0 | character >> 12);
		*to++ = (u8)(0x80 | (character >> 6 & 0x3f));
	}
	*to++ = (u8)(0x80 | (character & 0x3f));
	return to;
}

/* Writes what a key sends that has no character: a letter, or a number of one or two digits. */
static u8 *sequence_write(u8 *to, u8 end)
{
	*to++ = ESCAPE;
	*to++ = '[';
	if (end >= 'A') {
		*to++ = end;
		return to;
	}
	if (end >> 4 != 0)
		*to++ = '0' + (end >> 4);
	*to++ = '0' + (end & 0xf);
	*to++ = '~';
	return to;
}

/* Returns what a key stands for, as it is pressed now. */
static u32 value_of(const struct keyboard *keyboard, const struct gandalf_key *key)
{
	bool shift = (keyboard->held & GANDALF_HELD_SHIFT) != 0;
	bool locked = (keyboard->locks & key->locks) != 0;

	return key->values[keyboard->held & GANDALF_HELD_ALT_GRAPH ? 2 : shift != locked];
}

static u32 key_press(struct keyboard *keyboard, const struct gandalf_key *key, u8 *bytes)
{
	u32 value = value_of(keyboard, key);
	u8 kind = (u8)(value >> 8);
	u8 *to = bytes;

	if (kind == GANDALF_KEY_LOCK >> 8)
		keyboard->locks ^= (u8)value;
	if (kind >= GANDALF_KEY_HELD >> 8 || value == 0)
		return 0;
	if (keyboard->held & GANDALF_HELD_ALT)
		*to++ = ESCAPE;
	if (kind == GANDALF_KEY_SEQUENCE >> 8)
		return (u32)(sequence_write(to, (u8)value) - bytes);
	if (keyboard->held & GANDALF_HELD_CONTROL &&
	    (value == ' ' || (value >= '@' && value < DELETE)))
		value &= 0x1f;
	return (u32)(character_write(to, value) - bytes);
}

/* Takes a code behind its prefix, if it has one. A key that is held is the same with all others. */
static u32 key_take(struct keyboard *keyboard, const struct gandalf_key *key, bool pressed,
		    u8 *bytes)
{
	u32 value = key->values[0];

	if (value >> 8 == GANDALF_KEY_HELD >> 8) {
		keyboard->held |= (u8)value;
		if (!pressed)
			keyboard->held ^= (u8)value;
	}
	return pressed ? key_press(keyboard, key, bytes) : 0;
}

u32 keyboard_take(struct keyboard *keyboard, const struct gandalf_key (*keys)[GANDALF_KEYS],
		  u8 code, u8 *bytes)
{
	u32 index = code % RELEASED;
	u8 prefix = keyboard->prefix;

	keyboard->prefix = 0;
	if (keyboard->skipped != 0)
		keyboard->skipped--;
	else if (code == PREFIX)
		keyboard->prefix = code;
	else if (code == PREFIX_OF_PAUSE)
		keyboard->skipped = CODES_OF_PAUSE;
	else if (index < GANDALF_KEYS)
		return key_take(keyboard, &keys[prefix != 0][index], code < RELEASED, bytes);
	return 0;
}
