/* SPDX-License-Identifier: Apache-2.0 */
/* Drives the machine's keyboard controller. */
#include "platform/pc/i8042.h"

#include "arch/ia32/cpu.h"

enum { DATA = 0x60, STATUS = 0x64 };
enum { STATUS_FULL = 0x01, STATUS_MOUSE = 0x20 };
/* More codes than any controller and keyboard keep. */
#define CODES_MAXIMUM 1000

/* Returns 0 in the place of what a mouse sends, since that is no key's code. */
int i8042_read(void)
{
	u8 status = inb(STATUS);
	u8 code;

	if ((status & STATUS_FULL) == 0)
		return -1;
	code = inb(DATA);
	return status & STATUS_MOUSE ? 0 : code;
}

/* Where there is no controller all bits are 1, without an end. */
bool i8042_empty(void)
{
	u32 count = 0;

	while (i8042_read() >= 0)
		if (++count == CODES_MAXIMUM)
			return false;
	return true;
}
