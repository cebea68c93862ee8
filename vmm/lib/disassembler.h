/* SPDX-License-Identifier: Apache-2.0 */
/* The interface by which reports name an instruction. An image has a disassembler only if it has
 * a kind of guest that needs a decoder; reports go without names otherwise. */
#pragma once

#include "lib/types.h"
#include "lib/unit.h"

struct disassembler {
	/* Returns the mnemonic of the instruction at bytes, of which count are there. Returns NULL
	 * if it does not know the instruction. */
	const char *(*name)(const u8 *bytes, u32 count);
};

#define DISASSEMBLER(name) UNIT(disassemblers, struct disassembler, name)
UNITS(disassemblers, struct disassembler);
