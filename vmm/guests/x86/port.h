/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O ports of a Linux guest on a shared CPU. Each virtual chip adds the ranges at which it
 * answers (lib/unit.h). A port at which none answers reads as ones, as on a PC.
 */
#pragma once

#include "guests/x86/board.h"
#include "lib/unit.h"

/* A range of ports, from first to last. Both functions access one byte, and run with interrupts
 * masked; they do longer work in steps, with chips_pause() in between. */
struct port_range {
	u16 first, last;
	u8 (*read)(struct board *board, u16 port);
	void (*write)(struct board *board, u16 port, u8 value);
};

#define PORT_RANGE(name) UNIT(port_ranges, struct port_range, name)
UNITS(port_ranges, struct port_range);

/* Lets interrupts in between two steps of a chip's work. */
void chips_pause(void);

/* Makes the table of the lower ports. It is called when a guest with virtual chips is created. */
void port_init(void);
/* Do the guest's IN and OUT, of 1, 2 or 4 bytes. Interrupts are masked. */
u32 port_read(struct x86 *x86, u16 port, u32 size);
void port_write(struct x86 *x86, u16 port, u32 size, u32 value);
