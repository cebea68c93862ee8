/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the escape sequences in the output of consoles. */
#include "device/escape.h"

u8 escape_next(u8 state, u8 byte)
{
	if (byte == ESCAPE)
		return state == ESCAPE_STRING ? ESCAPE_STRING_END : ESCAPE_START;
	if (byte == CANCEL || byte == '\n')
		return ESCAPE_NONE;
	if (state == ESCAPE_CONTROL)
		return byte >= 0x40 && byte <= 0x7e ? ESCAPE_NONE : ESCAPE_CONTROL;
	if (state == ESCAPE_STRING)
		return byte == BELL ? ESCAPE_NONE : ESCAPE_STRING;
	if (state != ESCAPE_START)
		return ESCAPE_NONE;
	if (byte == '[')
		return ESCAPE_CONTROL;
	if (byte == ']' || byte == 'P' || byte == '^' || byte == '_')
		return ESCAPE_STRING;
	return (byte & 0xf0) == 0x20 ? ESCAPE_START : ESCAPE_NONE;
}

/* These are requests for an answer (n, c, Z), strings such as titles, and a reset (c). */
bool escape_is_once(u8 state, u8 final)
{
	return state >= ESCAPE_STRING || final == 'n' || final == 'c' || final == 'Z';
}
