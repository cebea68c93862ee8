/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O ports of a Linux guest on a shared CPU. A virtual chip adds the ranges at which it
 * answers (lib/unit.h); what nobody answers at reads as ones, as on a PC.
 */
#pragma once

#include "guests/x86/board.h"
#include "lib/unit.h"

/* Interrupts are masked while the functions run; work for which they should not be is done in steps
 * with chips_pause() in between. */
struct port_range {
	u16 first, last;
	u8 (*read)(struct board *board, u16 port);
	void (*write)(struct board *board, u16 port, u8 value);
};

#define PORT_RANGE(name) UNIT(port_ranges, struct port_range, name)
UNITS(port_ranges, struct port_range);

/* Between the steps of a chip's work. */
void chips_pause(void);

/* Makes the table of the lower ports; when a guest is created that has any. */
void port_init(void);
/* Size 1, 2 or 4 bytes: IN and OUT of the guest. */
u32 port_read(struct x86 *x86, u16 port, u32 size);
void port_write(struct x86 *x86, u16 port, u32 size, u32 value);
