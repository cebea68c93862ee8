/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PC's keyboard types: from its codes, of set 1, to the bytes that a terminal would send.
 * What each key is for is the layout's concern (abi/table.h), which the host tool writes.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* The most bytes of a key: ESC in front of ESC [ 2 4 ~. */
#define KEYBOARD_BYTES 6

/* All is zero at first: no key is held, and the locks are off. */
struct keyboard {
	u8 held;    /* bits of the keys with which others are held: GANDALF_HELD_... */
	u8 locks;   /* GANDALF_LOCK_... */
	u8 prefix;  /* the last code: 0xe0 in front of another one, or 0 */
	u8 skipped; /* codes that are still to be left out */
};

/* Takes a code. Writes the bytes that it types, and returns how many. keys has the keys without a
 * prefix and those with one. */
u32 keyboard_take(struct keyboard *keyboard, const struct gandalf_key (*keys)[GANDALF_KEYS],
		  u8 code, u8 *bytes);
