/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the virtual devices with what a guest can do to them: reads and writes
 * of ports and registers in any order, and time that passes. Four bytes of input
 * are one step.
 */
#include <stdlib.h>

#include "device/local_apic.h"
#include "device/pic.h"
#include "device/pit.h"
#include "device/rtc.h"
#include "device/uart.h"

#define KHZ 1000000

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

struct board {
	struct pic_pair pic;
	struct pit pit;
	struct rtc rtc;
	struct uart uart;
	struct local_apic apic;
	u64 now;
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void step_pic(struct board *board, u8 what, u8 value)
{
	static const u16 ports[] = { 0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1 };
	u16 port = ports[what % ARRAY_SIZE(ports)];
	int pending;

	if (what & 0x80)
		pic_set_line(&board->pic, value & 15, value & 16);
	else if (what & 0x40)
		pic_read(&board->pic, port);
	else
		pic_write(&board->pic, port, value);
	pending = pic_pending(&board->pic);
	require(pending >= -1 && pending <= 255);
	if (what & 0x20 && pending >= 0)
		require(pic_acknowledge(&board->pic) == pending);
}

/* Edges are reported when the deadline has come, and only then. */
static void step_pit(struct board *board, u8 what, u8 value)
{
	u16 port = what & 0x20 ? 0x61 : 0x40 + (what & 3);
	u64 due;

	if (what & 0x80)
		pit_read(&board->pit, port, board->now);
	else
		pit_write(&board->pit, port, value, board->now);
	due = pit_deadline(&board->pit);
	require(pit_expire(&board->pit, board->now) == (due <= board->now));
	require(pit_deadline(&board->pit) > board->now);
}

/* A deadline that has come raises the line. */
static void step_rtc(struct board *board, u8 what, u8 value)
{
	u64 due;

	rtc_write(&board->rtc, 0x70, what, board->now);
	if (what & 0x80)
		rtc_read(&board->rtc, 0x71, board->now);
	else
		rtc_write(&board->rtc, 0x71, value, board->now);
	due = rtc_deadline(&board->rtc);
	rtc_expire(&board->rtc, board->now);
	if (due <= board->now)
		require(rtc_line(&board->rtc));
	rtc_acknowledge(&board->rtc);
	due = rtc_deadline(&board->rtc);
	require(due > board->now);
}

static void step_uart_output(struct uart *uart)
{
	int expected = uart_output(uart);

	require(uart_transmit(uart) == expected);
}

static void step_uart(struct board *board, u8 what, u8 value)
{
	struct uart *uart = &board->uart;

	if (what & 0x80)
		uart_read(uart, what & 7);
	else if (what & 0x40)
		uart_receive(uart, value);
	else
		uart_write(uart, what & 7, value);
	uart_interrupt(uart);
	require(uart->receive.count <= UART_FIFO_SIZE);
	require(uart->transmit.count <= UART_FIFO_SIZE);
	if (what & 0x20)
		step_uart_output(uart);
}

/* A deadline that has come requests an interrupt, unless a store has found that. */
static void step_local_apic(struct board *board, u8 what, u8 value)
{
	struct local_apic *apic = &board->apic;
	int pending;

	if (what & 1)
		local_apic_request(apic, value);
	else
		local_apic_write(apic, (what & 0xfcu) << 2, value * 0x02010101u, board->now);
	if (local_apic_deadline(apic) <= board->now)
		require(local_apic_expire(apic, board->now));
	require(local_apic_deadline(apic) > board->now);
	pending = local_apic_pending(apic);
	require(pending == -1 || (pending >= 16 && pending <= 255));
	if (what & 2 && pending >= 0)
		require(local_apic_acknowledge(apic) == (u32)pending);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const steps[])(struct board *, u8, u8) = { step_pic, step_pit, step_rtc,
								 step_uart, step_local_apic };
	static u32 registers[1024];
	struct board board = { .now = 1000000 };

	pic_reset(&board.pic);
	pit_reset(&board.pit, KHZ, board.now);
	rtc_reset(&board.rtc, KHZ, board.now, 1704067200);
	uart_reset(&board.uart);
	local_apic_reset(&board.apic, registers, 0, true);
	for (; size >= 4; data += 4, size -= 4) {
		/* From nothing to half an hour. */
		board.now += (u64)(data[3] & 15) << (data[3] >> 4 << 1) << 8;
		steps[data[0] % ARRAY_SIZE(steps)](&board, data[1], data[2]);
	}
	return 0;
}
