/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the two chips of a mainboard that know the time, the 8254 (PIT) and the CMOS clock (RTC):
 * their ports, and the deadlines at which their lines change.
 */
#include "guests/x86/clock.h"

#include "guests/x86/line.h"
#include "guests/x86/port.h"

#define RTC_INDEX 0x70
#define RTC_FLAGS 0x0c /* register C */

/* Returns when the PIT has to be served next. A PIT with a tiny count would leave no time for
 * anything else, so its expiries are merged to at most twenty in a millisecond. */
static u64 pit_next(const struct board *board)
{
	u64 earliest = board->pit_served + time_tsc_khz / 20;
	u64 deadline = pit_deadline(&board->pit);

	return deadline < earliest ? earliest : deadline;
}

static u64 pit_due(struct deadline *deadline)
{
	line_chip_is_due((struct board *)((u8 *)deadline - offsetof(struct board, pit_deadline)),
			 BOARD_DUE_PIT);
	return TIME_NEVER;
}

static u64 rtc_due(struct deadline *deadline)
{
	line_chip_is_due((struct board *)((u8 *)deadline - offsetof(struct board, rtc_deadline)),
			 BOARD_DUE_RTC);
	return TIME_NEVER;
}

static void pit_settle(struct board *board)
{
	u64 now = rdtsc();

	board->pit_served = now;
	if (pit_expire(&board->pit, now)) {
		vcpu_count(board->x86->vcpu, COUNTER_timer_expiries);
		line_pulse(board, IRQ_PIT);
	}
	deadline_set(&board->pit_deadline, pit_next(board));
}

/* Sets the RTC's line. If the RTC acknowledges its interrupts itself, the line falls again at once,
 * and the 8259 has kept the edge. */
static void rtc_settle(struct board *board)
{
	pic_set_line(&board->pic, IRQ_RTC, rtc_line(&board->rtc));
	rtc_acknowledge(&board->rtc);
	pic_set_line(&board->pic, IRQ_RTC, rtc_line(&board->rtc));
	line_look(board);
}

/* Updates the RTC's line and deadline. The search for the alarm makes it a step of its own. */
static void rtc_look(struct board *board)
{
	rtc_settle(board);
	deadline_set(&board->rtc_deadline, rtc_deadline(&board->rtc));
}

void clock_settle(struct board *board, u8 due)
{
	if (due == BOARD_DUE_PIT) {
		pit_settle(board);
		return;
	}
	rtc_expire(&board->rtc, rdtsc());
	chips_pause();
	rtc_look(board);
}

static u8 pit_port_read(struct board *board, u16 port)
{
	return pit_read(&board->pit, port, rdtsc());
}

static void pit_port_write(struct board *board, u16 port, u8 value)
{
	pit_write(&board->pit, port, value, rdtsc());
	/* What a control word or a count changes takes as long as the search for its deadline. */
	chips_pause();
	deadline_set(&board->pit_deadline, pit_next(board));
}

static const struct port_range pit_counters = {0x40, 0x43, pit_port_read, pit_port_write};
static const struct port_range pit_gate = {0x61, 0x61, pit_port_read, pit_port_write};
PORT_RANGE(pit_counters);
PORT_RANGE(pit_gate);

/* Returns the time, and brings the RTC up to it in a step of its own, since that may take a search
 * for its alarm. Register C goes without that step, because the guest reads it at each
 * interrupt. */
static APART u64 rtc_now(struct board *board, u16 port)
{
	u64 now = rdtsc();

	if (port != RTC_INDEX && board->rtc.index != RTC_FLAGS) {
		rtc_expire(&board->rtc, now);
		chips_pause();
	}
	return now;
}

/* Updates the RTC after an access, unless that was to its index, which changes nothing. */
static void rtc_port_settle(struct board *board, u16 port)
{
	if (port == RTC_INDEX)
		return;
	chips_pause();
	rtc_look(board);
}

static u8 rtc_port_read(struct board *board, u16 port)
{
	u8 value = rtc_read(&board->rtc, port, rtc_now(board, port));

	rtc_port_settle(board, port);
	return value;
}

static void rtc_port_write(struct board *board, u16 port, u8 value)
{
	rtc_write(&board->rtc, port, value, rtc_now(board, port));
	rtc_port_settle(board, port);
}

static const struct port_range rtc_ports = {RTC_INDEX, RTC_INDEX + 1, rtc_port_read,
					    rtc_port_write};
PORT_RANGE(rtc_ports);

void clock_create(struct board *board)
{
	deadline_init(&board->pit_deadline, pit_due, 0);
	deadline_init(&board->rtc_deadline, rtc_due, 0);
}

void clock_reset(struct board *board, u32 seconds)
{
	u64 now = rdtsc();

	pit_reset(&board->pit, time_tsc_khz, now);
	rtc_reset(&board->rtc, time_tsc_khz, now, seconds);
}

void clock_start(struct board *board)
{
	deadline_set(&board->pit_deadline, pit_next(board));
	deadline_set(&board->rtc_deadline, rtc_deadline(&board->rtc));
}

void clock_stop(struct board *board)
{
	deadline_set(&board->pit_deadline, TIME_NEVER);
	deadline_set(&board->rtc_deadline, TIME_NEVER);
}
