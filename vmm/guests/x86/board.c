/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mainboard of a Linux guest on a shared CPU: at which ports each chip answers, and how the
 * chips' lines reach the interrupt controller.
 */
#include "guests/x86/board.h"

#include "core/cores.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/work.h"
#include "guests/x86/port.h"
#include "lib/owner.h"
#include "masked_state.h"

enum { IRQ_PIT = 0, IRQ_UART = 4, IRQ_RTC = 8 };
#define UART_PORT 0x3f8
#define RTC_INDEX 0x70
#define RTC_FLAGS 0x0c /* register C */
/* The keyboard controller's command that pulses the reset line, and the bit of the chip
 * set's reset register. */
enum { KEYBOARD_PULSE_RESET = 0xfe, RESET_CPU = 0x04 };
/* Bytes that are exchanged with the UART at once. The guest's next access moves more. */
#define UART_STEP 2

OF_GUESTS static struct board boards[GANDALF_GUESTS_MAXIMUM];

static void pic_look(struct board *board)
{
	struct x86 *x86 = board->x86;

	EXPECTS_MASKED();
	x86->interrupt_waits = pic_pending(&board->pic) >= 0;
	vcpu_notify_if(x86->vcpu, x86->interrupt_waits);
}

/* Sets the RTC's line. If the RTC acknowledges its interrupts itself, the line falls again at once,
 * and the 8259 has kept the edge. */
static void rtc_settle(struct board *board)
{
	pic_set_line(&board->pic, IRQ_RTC, rtc_line(&board->rtc));
	rtc_acknowledge(&board->rtc);
	pic_set_line(&board->pic, IRQ_RTC, rtc_line(&board->rtc));
	pic_look(board);
}

static void uart_drain(struct board *board)
{
	int byte;
	u32 i;

	for (i = 0; i < UART_STEP && (byte = uart_output(&board->uart)) >= 0; i++) {
		if (!console_put(&consoles, board->vm->console, (char)byte))
			break;
		uart_transmit(&board->uart);
	}
	if (i == 0)
		return;
	chips_pause();
	log_pump();
}

static void uart_exchange(struct board *board)
{
	struct console *console = board->vm->console;

	EXPECTS_MASKED();
	for (u32 i = 0;
	     i < UART_STEP && uart_can_receive(&board->uart) && console_has_input(console); i++)
		uart_receive(&board->uart, (u8)console_get(console));
	uart_drain(board);
	chips_pause();
	pic_set_line(&board->pic, IRQ_UART, uart_interrupt(&board->uart));
	pic_look(board);
}

/* Notes that a chip has to be looked at when its guest is about to go on. Interrupt handlers leave
 * the work to the guest, so that no RTOS waits for it. A guest that sleeps wakes up for it. */
static void chip_is_due(struct board *board, u8 due)
{
	struct x86 *x86 = board->x86;
	struct vcpu *vcpu = x86->vcpu;

	x86->due |= due;
	x86->slept |= vcpu->state == VCPU_HALTED ||
		     (vcpu->state == VCPU_PAUSED && vcpu->paused == VCPU_HALTED);
	vcpu_notify(vcpu);
}

void board_console(struct board *board)
{
	if (console_has_input(board->vm->console) || uart_output(&board->uart) >= 0)
		chip_is_due(board, BOARD_DUE_UART);
}

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
	chip_is_due((struct board *)((u8 *)deadline - offsetof(struct board, pit_deadline)),
		    BOARD_DUE_PIT);
	return TIME_NEVER;
}

static u64 rtc_due(struct deadline *deadline)
{
	chip_is_due((struct board *)((u8 *)deadline - offsetof(struct board, rtc_deadline)),
		    BOARD_DUE_RTC);
	return TIME_NEVER;
}

static void pit_settle(struct board *board)
{
	u64 now = rdtsc();

	board->pit_served = now;
	if (pit_expire(&board->pit, now)) {
		vcpu_count(board->x86->vcpu, COUNTER_timer_expiries);
		board_interrupt(board, IRQ_PIT);
	}
	deadline_set(&board->pit_deadline, pit_next(board));
}

/* Updates the RTC's line and deadline. The search for the alarm makes it a step of its own. */
static void rtc_look(struct board *board)
{
	rtc_settle(board);
	deadline_set(&board->rtc_deadline, rtc_deadline(&board->rtc));
}

static void chip_look(struct board *board, u8 due)
{
	if (due == BOARD_DUE_PIT) {
		pit_settle(board);
	} else if (due == BOARD_DUE_RTC) {
		rtc_expire(&board->rtc, rdtsc());
		chips_pause();
		rtc_look(board);
	} else {
		uart_exchange(board);
	}
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
		chip_look(x86->board, due);
		chips_pause();
	}
}

/* The chips at their ports. Each access also updates the lines and deadlines that it may have
 * changed. */

static u8 pic_port_read(struct board *board, u16 port)
{
	u8 value = pic_read(&board->pic, port);

	pic_look(board);
	return value;
}

static void pic_port_write(struct board *board, u16 port, u8 value)
{
	pic_write(&board->pic, port, value);
	pic_look(board);
}

static const struct port_range pic_first = {0x20, 0x21, pic_port_read, pic_port_write};
static const struct port_range pic_second = {0xa0, 0xa1, pic_port_read, pic_port_write};
PORT_RANGE(pic_first);
PORT_RANGE(pic_second);

static u8 pit_port_read(struct board *board, u16 port)
{
	return pit_read(&board->pit, port, rdtsc());
}

static void pit_port_write(struct board *board, u16 port, u8 value)
{
	pit_write(&board->pit, port, value, rdtsc());
	deadline_set(&board->pit_deadline, pit_next(board));
}

static const struct port_range pit_counters = {0x40, 0x43, pit_port_read, pit_port_write};
static const struct port_range pit_gate = {0x61, 0x61, pit_port_read, pit_port_write};
PORT_RANGE(pit_counters);
PORT_RANGE(pit_gate);

/* Returns the time, and brings the RTC up to it in a step of its own, since that may take a search
 * for its alarm. Register C goes without that step, because the guest reads it at each
 * interrupt. */
static u64 rtc_now(struct board *board, u16 port)
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

unsigned board_acknowledge(struct board *board)
{
	unsigned vector = (unsigned)pic_acknowledge(&board->pic);

	EXPECTS_MASKED();
	board->x86->interrupt_waits = pic_pending(&board->pic) >= 0;
	return vector;
}

void board_interrupt(struct board *board, unsigned irq)
{
	pic_set_line(&board->pic, irq, false);
	pic_set_line(&board->pic, irq, true);
	pic_look(board);
}

void board_create(struct x86 *x86)
{
	struct board *board = &boards[x86->vm->index];

	x86->vm->board = x86->board = board;
	board->vm = x86->vm;
	board->x86 = x86;
	port_init();
	deadline_init(&board->pit_deadline, pit_due, 0);
	deadline_init(&board->rtc_deadline, rtc_due, 0);
}

void board_reset(struct board *board)
{
	u32 seconds = cores_seconds();
	u64 now;

	schedule_breathe();
	now = rdtsc();
	pic_reset(&board->pic);
	pit_reset(&board->pit, time_tsc_khz, now);
	rtc_reset(&board->rtc, time_tsc_khz, now, seconds);
	uart_reset(&board->uart);
	board->x86->interrupt_waits = false;
	schedule_breathe();
	deadline_set(&board->pit_deadline, pit_next(board));
	deadline_set(&board->rtc_deadline, rtc_deadline(&board->rtc));
}

void board_stop(struct board *board)
{
	board->x86->due = 0;
	board->x86->slept = false;
	deadline_set(&board->pit_deadline, TIME_NEVER);
	deadline_set(&board->rtc_deadline, TIME_NEVER);
}
