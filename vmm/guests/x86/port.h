/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O ports of a Linux guest on a shared CPU. Each virtual chip adds the ranges at which it
 * answers (lib/unit.h). A port at which none answers reads as ones, as on a PC.
 */
#pragma once

#include "guests/x86/board.h"
#include "lib/unit.h"

/* A range of ports, from first to last. Both functions access one byte, and run with interrupts
 * masked; they do longer work in steps, with chips_pause() in between (line.h). */
struct port_range {
	u16 first, last;
	u8 (*read)(struct board *board, u16 port);
	void (*write)(struct board *board, u16 port, u8 value);
};

#define PORT_RANGE(name) UNIT(port_ranges, struct port_range, name)
UNITS(port_ranges, struct port_range);
