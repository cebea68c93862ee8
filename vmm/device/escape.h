/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in an escape sequence (ECMA-48) a console's output stands, from byte to byte.
 */
#pragma once

#include "lib/types.h"

/* Behind ESC and intermediates; ESC [; ESC ] and the like, up to BEL or ESC \; an ESC in there. */
enum { ESCAPE_NONE, ESCAPE_START, ESCAPE_CONTROL, ESCAPE_STRING, ESCAPE_STRING_END };

enum { CONTROL_A = 0x01, BELL = 0x07, CANCEL = 0x18, ESCAPE = 0x1b, DELETE = 0x7f };

/* Where it stands behind a byte. */
u8 escape_next(u8 state, u8 byte);
/* Whether the sequence that a byte has ended in that state must not be sent twice. */
bool escape_is_once(u8 state, u8 final);
