/* SPDX-License-Identifier: Apache-2.0 */
/* Follows escape sequences (ECMA-48) byte by byte, by a state. */
#pragma once

#include "lib/types.h"

/* The states: outside of a sequence; behind ESC and intermediate bytes; behind ESC [; in a string,
 * which begins with ESC ] and the like and ends with BEL or ESC \; and behind an ESC in a
 * string. */
enum { ESCAPE_NONE, ESCAPE_START, ESCAPE_CONTROL, ESCAPE_STRING, ESCAPE_STRING_END };

enum { CONTROL_A = 0x01, BELL = 0x07, CANCEL = 0x18, ESCAPE = 0x1b, DELETE = 0x7f };

/* Returns the state behind a byte. */
u8 escape_next(u8 state, u8 byte);
/* Returns whether a sequence that has ended must not be sent twice. state is the state in front of
 * its last byte, which is final. */
bool escape_is_once(u8 state, u8 final);
