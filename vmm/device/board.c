/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mainboard of a Linux guest on a shared CPU: which chip answers at which
 * port, and how the chips' lines reach the interrupt controller.
 */
#include "guests/x86/pc.h"

#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "platform/pc/cmos.h"

enum { IRQ_PIT = 0, IRQ_UART = 4, IRQ_RTC = 8 };
#define UART_PORT 0x3f8
#define RTC_INDEX 0x70
#define RTC_FLAGS 0x0c /* register C */
/* The keyboard controller's command that pulses the reset line, and the bit of the chip
 * set's reset register. */
enum { KEYBOARD_PULSE_RESET = 0xfe, RESET_CPU = 0x04 };
/* Bytes exchanged with the UART at once; the guest's next access moves more. */
#define UART_STEP 2

/* Between the steps of a chip's work. */
static void chips_pause(void)
{
	work_pause(chips);
}

static void pic_look(struct pc *pc)
{
	pc->interrupt_waits = pic_pending(&pc->pic) >= 0;
	pc->vcpu->attention |= pc->interrupt_waits;
}

/* If interrupts acknowledge themselves the line is a pulse, which the 8259 keeps. */
static void rtc_settle(struct pc *pc)
{
	pic_set_line(&pc->pic, IRQ_RTC, rtc_line(&pc->rtc));
	rtc_acknowledge(&pc->rtc);
	pic_set_line(&pc->pic, IRQ_RTC, rtc_line(&pc->rtc));
	pic_look(pc);
}

static void uart_drain(struct pc *pc)
{
	int byte;
	u32 i;

	for (i = 0; i < UART_STEP && (byte = uart_output(&pc->uart)) >= 0; i++) {
		if (!console_put(&consoles, pc->vm->console, (char)byte))
			break;
		uart_transmit(&pc->uart);
	}
	if (i == 0)
		return;
	chips_pause();
	log_pump();
}

static void uart_exchange(struct pc *pc)
{
	struct console *console = pc->vm->console;

	for (u32 i = 0; i < UART_STEP && uart_can_receive(&pc->uart) && console_has_input(console); i++)
		uart_receive(&pc->uart, (u8)console_get(console));
	uart_drain(pc);
	chips_pause();
	pic_set_line(&pc->pic, IRQ_UART, uart_interrupt(&pc->uart));
	pic_look(pc);
}

/* An interrupt handler has a chip looked at when its guest is about to go on: an RTOS must not wait
 * for that. A guest that sleeps wakes up for it. */
static void chip_is_due(struct pc *pc, u8 due)
{
	struct vcpu *vcpu = pc->vcpu;

	pc->due |= due;
	pc->slept |= vcpu->state == VCPU_HALTED ||
		     (vcpu->state == VCPU_PAUSED && pc->vm->paused == VCPU_HALTED);
	vcpu->attention = true;
}

void pc_console(struct pc *pc)
{
	if (console_has_input(pc->vm->console) || uart_output(&pc->uart) >= 0)
		chip_is_due(pc, PC_DUE_UART);
}

/* A PIT with a tiny count would be served more often than anything else runs:
 * its expiries are merged to at most twenty in a millisecond. */
static u64 pit_next(const struct pc *pc)
{
	u64 earliest = pc->pit_served + time_tsc_khz / 20;
	u64 deadline = pit_deadline(&pc->pit);

	return deadline < earliest ? earliest : deadline;
}

static u64 pit_due(struct deadline *deadline)
{
	chip_is_due((struct pc *)((u8 *)deadline - offsetof(struct pc, pit_deadline)), PC_DUE_PIT);
	return TIME_NEVER;
}

static u64 rtc_due(struct deadline *deadline)
{
	chip_is_due((struct pc *)((u8 *)deadline - offsetof(struct pc, rtc_deadline)), PC_DUE_RTC);
	return TIME_NEVER;
}

static void pit_settle(struct pc *pc)
{
	u64 now = rdtsc();

	pc->pit_served = now;
	if (pit_expire(&pc->pit, now)) {
		vcpu_count(pc->vcpu, COUNTER_timer_expiries);
		pc_interrupt(pc, IRQ_PIT);
	}
	deadline_set(&pc->pit_deadline, pit_next(pc));
}

/* What the alarm takes is a step of its own. */
static void rtc_look(struct pc *pc)
{
	rtc_settle(pc);
	deadline_set(&pc->rtc_deadline, rtc_deadline(&pc->rtc));
}

static void chip_look(struct pc *pc, u8 due)
{
	if (due == PC_DUE_PIT) {
		pit_settle(pc);
	} else if (due == PC_DUE_RTC) {
		rtc_expire(&pc->rtc, rdtsc());
		chips_pause();
		rtc_look(pc);
	} else {
		uart_exchange(pc);
	}
}

/* One at a time; more may be due meanwhile. */
void pc_settle(struct pc *pc)
{
	u8 due;

	if (pc->due != 0)
		chips_pause();
	while ((due = pc->due & (u8)-pc->due) != 0) {
		pc->due ^= due;
		chip_look(pc, due);
		chips_pause();
	}
}

/* The chips, and where nothing is to be done: diagnostics, DMA, coprocessor reset. */
enum chip { CHIP_NONE, CHIP_PIC, CHIP_PIT, CHIP_RTC, CHIP_UART, CHIP_KEYBOARD, CHIP_RESET, CHIP_IDLE };

static const struct {
	u16 first, last;
	u8 chip;
} __attribute__((packed)) chips[] = {
	{0xa0, 0xa1, CHIP_PIC}, {0x20, 0x21, CHIP_PIC}, {RTC_INDEX, RTC_INDEX + 1, CHIP_RTC},
	{0x40, 0x43, CHIP_PIT}, {UART_PORT, UART_PORT + 7, CHIP_UART}, {0x61, 0x61, CHIP_PIT},
	{0x60, 0x60, CHIP_IDLE}, {0x64, 0x64, CHIP_KEYBOARD}, {0xcf9, 0xcf9, CHIP_RESET},
	{0x80, 0x8f, CHIP_IDLE}, {0xf0, 0xf1, CHIP_IDLE}, {0x00, 0x0f, CHIP_IDLE},
	{0xc0, 0xdf, CHIP_IDLE},
};

static enum chip chip_find(struct pc *pc, u16 port)
{
	for (u32 i = 0; i < ARRAY_SIZE(chips); i++)
		if (port >= chips[i].first && port <= chips[i].last)
			return chips[i].chip;
	vcpu_count(pc->vcpu, COUNTER_unknown_ports);
	return CHIP_NONE;
}

/* After an access, which may have moved the chip's lines and deadlines; the RTC's index does not. */
static void chip_settle(struct pc *pc, enum chip chip, u16 port)
{
	if (chip == CHIP_UART) {
		uart_exchange(pc);
	} else if (chip == CHIP_PIC) {
		pic_look(pc);
	} else if (chip == CHIP_RTC && port != RTC_INDEX) {
		chips_pause();
		rtc_look(pc);
	}
}

/* To bring the clock up to now may take a search for its alarm: a step of its own, but where the
 * register has the flags, which the guest reads at each interrupt. */
static u64 rtc_now(struct pc *pc, u16 port)
{
	u64 now = rdtsc();

	if (port != RTC_INDEX && pc->rtc.index != RTC_FLAGS) {
		rtc_expire(&pc->rtc, now);
		chips_pause();
	}
	return now;
}

static u8 chip_read(struct pc *pc, enum chip chip, u16 port)
{
	switch (chip) {
	case CHIP_NONE:
		return 0xff;
	case CHIP_PIC:
		return pic_read(&pc->pic, port);
	case CHIP_PIT:
		return pit_read(&pc->pit, port, rdtsc());
	case CHIP_RTC:
		return rtc_read(&pc->rtc, port, rtc_now(pc, port));
	case CHIP_UART:
		return uart_read(&pc->uart, port & 7);
	default: /* no keyboard: its buffer is empty */
		return 0;
	}
}

static void chip_write(struct pc *pc, enum chip chip, u16 port, u8 value)
{
	if (chip == CHIP_PIC) {
		pic_write(&pc->pic, port, value);
	} else if (chip == CHIP_PIT) {
		pit_write(&pc->pit, port, value, rdtsc());
		deadline_set(&pc->pit_deadline, pit_next(pc));
	} else if (chip == CHIP_RTC) {
		rtc_write(&pc->rtc, port, value, rtc_now(pc, port));
	} else if (chip == CHIP_UART) {
		uart_write(&pc->uart, port & 7, value);
	} else if ((chip == CHIP_KEYBOARD && value == KEYBOARD_PULSE_RESET) ||
		   (chip == CHIP_RESET && value & RESET_CPU)) {
		vm_reboot(pc->vm);
	}
}

/* Ports of real devices that the description gives to the guest: the access is
 * made for it, so that its processes cannot make it themselves. */
static bool port_is_own(const struct pc *pc, u16 port, u32 size)
{
	const struct gandalf_guest *guest = pc->vm->guest;

	for (u32 i = 0; i < guest->port_range_count; i++)
		if (port >= guest->port_ranges[i].first &&
		    port + size - 1 <= guest->port_ranges[i].last)
			return true;
	return false;
}

u32 pc_port_read(struct pc *pc, u16 port, u32 size)
{
	u32 value = 0;

	vcpu_count(pc->vcpu, COUNTER_port_accesses);
	if (port_is_own(pc, port, size))
		return port_in(port, size);
	pc_settle(pc);
	for (u32 i = 0; i < size; i++) {
		enum chip chip = chip_find(pc, (u16)(port + i));

		if (i != 0)
			chips_pause();
		value |= (u32)chip_read(pc, chip, (u16)(port + i)) << 8 * i;
		chip_settle(pc, chip, (u16)(port + i));
	}
	trace(TRACE_port, port, value);
	return value;
}

void pc_port_write(struct pc *pc, u16 port, u32 size, u32 value)
{
	vcpu_count(pc->vcpu, COUNTER_port_accesses);
	trace(TRACE_port, port | 0x10000, value);
	if (port_is_own(pc, port, size)) {
		port_out(port, size, value);
		return;
	}
	pc_settle(pc);
	/* A byte may have the guest reset. */
	for (u32 i = 0; i < size && pc->vcpu->state == VCPU_RUNNING; i++) {
		enum chip chip = chip_find(pc, (u16)(port + i));

		if (i != 0)
			chips_pause();
		chip_write(pc, chip, (u16)(port + i), (u8)(value >> 8 * i));
		chip_settle(pc, chip, (u16)(port + i));
	}
}

unsigned pc_interrupt_acknowledge(struct pc *pc)
{
	unsigned vector = (unsigned)pic_acknowledge(&pc->pic);

	pc->interrupt_waits = pic_pending(&pc->pic) >= 0;
	return vector;
}

void pc_interrupt(struct pc *pc, unsigned irq)
{
	pic_set_line(&pc->pic, irq, false);
	pic_set_line(&pc->pic, irq, true);
	pic_look(pc);
}

void pc_devices_create(struct pc *pc)
{
	deadline_init(&pc->pit_deadline, pit_due, 0);
	deadline_init(&pc->rtc_deadline, rtc_due, 0);
}

void pc_devices_reset(struct pc *pc)
{
	u32 seconds = cmos_seconds();
	u64 now;

	schedule_breathe();
	now = rdtsc();
	pic_reset(&pc->pic);
	pit_reset(&pc->pit, time_tsc_khz, now);
	rtc_reset(&pc->rtc, time_tsc_khz, now, seconds);
	uart_reset(&pc->uart);
	pc->interrupt_waits = false;
	deadline_set(&pc->pit_deadline, pit_next(pc));
	deadline_set(&pc->rtc_deadline, rtc_deadline(&pc->rtc));
}

void pc_devices_stop(struct pc *pc)
{
	pc->due = 0;
	pc->slept = false;
	deadline_set(&pc->pit_deadline, TIME_NEVER);
	deadline_set(&pc->rtc_deadline, TIME_NEVER);
}
