/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the virtual mainboard in an image whose Linux has the real one. */
#include "guests/x86/board.h"

#include "arch/ia32/cpu.h"
#include "guests/x86/line.h"

void board_create(UNUSED struct x86 *x86)
{
}

void board_reset(UNUSED struct board *board)
{
}

void board_stop(UNUSED struct board *board)
{
}

void board_console(UNUSED struct board *board)
{
}

void board_settle(UNUSED struct x86 *x86)
{
}

void line_pulse(UNUSED struct board *board, UNUSED unsigned irq)
{
}

unsigned line_acknowledge(UNUSED struct board *board)
{
	return 0;
}

/* The kernel of a Linux with the real mainboard uses all ports itself; these are for processes that
 * it permits some. */
u32 port_read(UNUSED struct x86 *x86, u16 port, u32 size)
{
	return port_in(port, size);
}

void port_write(UNUSED struct x86 *x86, u16 port, u32 size, u32 value)
{
	port_out(port, size, value);
}
