/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the mainboard of a Linux guest on a shared CPU: which chip answers at a port, and which is
 * served when it is due. The lower ports have a table with the place of their range in the list,
 * since Linux uses those at each interrupt. The UART and the chips that do next to nothing are
 * served here, the others in line.c and clock.c.
 */
#include "guests/x86/board.h"

#include "core/cores.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "guests/x86/clock.h"
#include "direct_owner.h"
#include "guests/x86/line.h"
#include "guests/x86/port.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "siblings.h"

#define TABLE_PORTS 0x400u
#define UART_PORT 0x3f8
/* The keyboard controller's command that pulses the reset line, and the bit of the chip
 * set's reset register. */
enum { KEYBOARD_PULSE_RESET = 0xfe, RESET_CPU = 0x04 };
/* Bytes that are exchanged with the UART at once. The guest's next access moves more. */
#define UART_STEP 2

OF_GUESTS static struct board boards[GANDALF_GUESTS_MAXIMUM];
/* For each lower port the number of its range, counted from 1, or 0 if no chip answers. */
OF_MACHINE static u8 range_of[TABLE_PORTS];

static void uart_drain(struct board *board)
{
	struct console *console = board->vm->console;
	int byte;
	u32 i;

	/* A byte stays in the UART until the console has room for it. */
	for (i = 0; i < UART_STEP && console_room(console) > 0 &&
		    (byte = uart_transmit(&board->uart)) >= 0 && console_put(console, (char)byte);
	     i++)
		;
	if (i == 0)
		return;
	chips_pause();
	log_pump();
}

/* Tells the 8259s the level of the UART's line if that has changed, which a byte that the guest
 * polls out does not do. */
static void uart_tell(struct board *board)
{
	bool level = pic_line(&board->pic, IRQ_UART);

	if (uart_interrupt(&board->uart) == level)
		return;
	chips_pause();
	pic_set_line(&board->pic, IRQ_UART, !level);
	line_look(board);
}

static void uart_exchange(struct board *board)
{
	int byte;

	EXPECTS_MASKED();
	for (u32 left = UART_STEP; left > 0 && uart_can_receive(&board->uart) &&
				   (byte = console_get(board->vm->console)) >= 0;
	     left--)
		uart_receive(&board->uart, (u8)byte);
	uart_drain(board);
	uart_tell(board);
}

void board_console(struct board *board)
{
	if (console_has_input(board->vm->console) || uart_output(&board->uart) >= 0)
		line_chip_is_due(board, BOARD_DUE_UART);
}

/* Goes on while a byte waits and the console has room for it. With a full buffer emptied while the
 * guest was away, nothing else would move the rest. */
static void uart_settle(struct x86 *x86)
{
	struct board *board = x86->board;

	uart_exchange(board);
	if (uart_output(&board->uart) >= 0 && console_room(board->vm->console) > 0)
		x86->due |= BOARD_DUE_UART;
}

/* Chips are served one at a time, with a pause behind each, in which more may become due. */
void board_settle(struct x86 *x86)
{
	u8 due;

	EXPECTS_MASKED();
	if (x86->due != 0)
		chips_pause();
	while ((due = x86->due & (u8)-x86->due) != 0) {
		x86->due ^= due;
		if (due == BOARD_DUE_UART)
			uart_settle(x86);
		else if (!due_is_of_siblings(x86, due))
			clock_settle(x86->board, due);
		chips_pause();
	}
}

/* The UART at its ports. Each access also exchanges bytes. */

static u8 uart_port_read(struct board *board, u16 port)
{
	u8 value = uart_read(&board->uart, port & 7);

	uart_exchange(board);
	return value;
}

static void uart_port_write(struct board *board, u16 port, u8 value)
{
	uart_write(&board->uart, port & 7, value);
	uart_exchange(board);
}

static const struct port_range uart_ports = {UART_PORT, UART_PORT + 7, uart_port_read,
					     uart_port_write};
PORT_RANGE(uart_ports);

/* Ports that read as 0 and ignore writes: the keyboard controller, whose buffer is empty, DMA,
 * diagnostics, and the reset of the coprocessor. */
static u8 idle_read(UNUSED struct board *board, UNUSED u16 port)
{
	return 0;
}

static void idle_write(UNUSED struct board *board, UNUSED u16 port, UNUSED u8 value)
{
}

static void keyboard_write(struct board *board, UNUSED u16 port, u8 value)
{
	if (value == KEYBOARD_PULSE_RESET)
		vm_reboot(board->vm);
}

static void reset_write(struct board *board, UNUSED u16 port, u8 value)
{
	if (value & RESET_CPU)
		vm_reboot(board->vm);
}

static const struct port_range keyboard_data = {0x60, 0x60, idle_read, idle_write};
static const struct port_range keyboard = {0x64, 0x64, idle_read, keyboard_write};
static const struct port_range reset = {0xcf9, 0xcf9, idle_read, reset_write};
static const struct port_range diagnostics = {0x80, 0x8f, idle_read, idle_write};
static const struct port_range coprocessor = {0xf0, 0xf1, idle_read, idle_write};
static const struct port_range dma_first = {0x00, 0x0f, idle_read, idle_write};
static const struct port_range dma_second = {0xc0, 0xdf, idle_read, idle_write};
PORT_RANGE(keyboard_data);
PORT_RANGE(keyboard);
PORT_RANGE(reset);
PORT_RANGE(diagnostics);
PORT_RANGE(coprocessor);
PORT_RANGE(dma_first);
PORT_RANGE(dma_second);

/* From an instruction to the chip that answers. */

void board_prepare(void)
{
	const struct port_range *const *at;

	for (at = UNITS_FIRST(port_ranges); at < UNITS_END(port_ranges); at++)
		for (u32 port = (*at)->first; port <= (*at)->last && port < TABLE_PORTS; port++)
			range_of[port] = (u8)(at - UNITS_FIRST(port_ranges) + 1);
}

static const struct port_range *range_search(u16 port)
{
	const struct port_range *const *at;

	for (at = UNITS_FIRST(port_ranges); at < UNITS_END(port_ranges); at++)
		if (port >= (*at)->first && port <= (*at)->last)
			return *at;
	return NULL;
}

static const struct port_range *range_find(struct x86 *x86, u16 port)
{
	const struct port_range *range;

	if (port < TABLE_PORTS) {
		if (range_of[port] != 0)
			return UNITS_FIRST(port_ranges)[range_of[port] - 1];
	} else if ((range = range_search(port)) != NULL) {
		return range;
	}
	vcpu_count(x86->vcpu, COUNTER_unknown_ports);
	return NULL;
}

/* Counts an access, and returns whether these ports of a real device are the guest's: its
 * description gives them to it, or it has all (its I/O privilege level is 1) and permits them to a
 * process. The VMM makes such accesses; a port that was opened would be open to all processes. */
static bool port_is_own(const struct x86 *x86, u16 port, u32 size)
{
	const struct gandalf_guest *guest = x86->vm->guest;

	vcpu_count(x86->vcpu, COUNTER_port_accesses);
	for (u32 i = 0; i < guest->port_range_count; i++)
		if (port >= guest->port_ranges[i].first &&
		    port + size - 1 <= guest->port_ranges[i].last)
			return true;
	return direct_has_ports(x86->vcpu);
}

u32 port_read(struct x86 *x86, u16 port, u32 size)
{
	u32 value = 0;

	if (port_is_own(x86, port, size))
		return port_in(port, size);
	board_settle(x86);
	if (x86->vcpu->state != VCPU_RUNNING)
		return value; /* what a sibling has asked for has reset the guest */
	for (u32 i = 0; i < size; i++) {
		u16 at = (u16)(port + i);
		const struct port_range *range;

		if (i != 0)
			chips_pause();
		range = range_find(x86, at);
		value |= (range != NULL ? range->read(x86->board, at) : 0xffu) << 8 * i;
	}
	trace(TRACE_port, port, value);
	return value;
}

void port_write(struct x86 *x86, u16 port, u32 size, u32 value)
{
	trace(TRACE_port, port | 0x10000, value);
	if (port_is_own(x86, port, size)) {
		port_out(port, size, value);
		return;
	}
	board_settle(x86);
	/* A byte, or what siblings have asked for, may reset the guest; then no more is written. */
	for (u32 i = 0; i < size && x86->vcpu->state == VCPU_RUNNING; i++) {
		const struct port_range *range;

		if (i != 0)
			chips_pause();
		range = range_find(x86, port);
		if (range != NULL)
			range->write(x86->board, port, (u8)value);
		port++;
		value >>= 8;
	}
}

void board_create(struct x86 *x86)
{
	struct board *board = &boards[x86->vm->index];

	x86->board = board;
	board->vm = x86->vm;
	board->x86 = x86;
	clock_create(board);
}

void board_reset(struct board *board)
{
	u32 seconds = cores_seconds();

	schedule_admit();
	pic_reset(&board->pic);
	clock_reset(board, seconds);
	uart_reset(&board->uart);
	board->x86->interrupt_waits = false;
	schedule_admit();
	clock_start(board);
}

void board_stop(struct board *board)
{
	board->x86->due = 0;
	board->x86->slept = false;
	clock_stop(board);
}
