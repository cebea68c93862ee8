/* SPDX-License-Identifier: Apache-2.0 */
/* Who can name an instruction, for reports. It is in the image if a guest's kind needs a
 * decoder. */
#pragma once

#include "lib/types.h"
#include "lib/unit.h"

struct disassembler {
	/* The mnemonic of the first of so many bytes; NULL: it is unknown. */
	const char *(*name)(const u8 *bytes, u32 count);
};

#define DISASSEMBLER(name) UNIT(disassemblers, struct disassembler, name)
UNITS(disassemblers, struct disassembler);
