/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Port input and output: every form of the instructions, and the registers of
 * the chips that Linux looks at when it finds out what they are.
 */
#include "emulator.h"
#include "machine.h"
#include "suite.h"

#define UART 0x3f8
#define UART_INTERRUPTS (UART + 1)
#define UART_IDENTIFY (UART + 2)
#define UART_FIFO_CONTROL (UART + 2)
#define UART_LINE_CONTROL (UART + 3)
#define UART_MODEM_CONTROL (UART + 4)
#define UART_LINE_STATUS (UART + 5)
#define UART_MODEM_STATUS (UART + 6)
#define UART_SCRATCH (UART + 7)
#define UART_8_BITS 0x03
#define UART_DIVISOR 0x80
#define UART_LOOP 0x10
#define UART_OUT2 0x08
#define UART_FIFOS 0xc0

#define PIC_MASTER_MASK 0x21
#define PIC_SLAVE_MASK 0xa1
#define PIT_CONTROL 0x43
#define PIT_CHANNEL_0 0x40
#define PIT_LATCH_0 0x00
#define CMOS_INDEX 0x70
#define CMOS_DATA 0x71
/* A COM port that no PC here has. */
#define NOBODY 0x2e8

static void test_forms(void)
{
	uint8_t value;

	port_out(PIC_MASTER_MASK, 0xa5);
	__asm__ volatile("inb %1, %0" : "=a"(value) : "i"(PIC_MASTER_MASK));
	expect_equal(value, 0xa5);
	__asm__ volatile("inb %%dx, %0" : "=a"(value) : "d"(PIC_MASTER_MASK));
	expect_equal(value, 0xa5);
	__asm__ volatile("outb %0, %1" : : "a"((uint8_t)0x5a), "i"(PIC_MASTER_MASK));
	expect_equal(port_in(PIC_MASTER_MASK), 0x5a);
	port_out(PIC_MASTER_MASK, 0xff);
}

/* Only the part of EAX that was read changes. */
static void test_part_of_register(void)
{
	uint32_t value = 0x12345678;

	port_out(UART_SCRATCH, 0xcc);
	__asm__ volatile("inb %%dx, %%al" : "+a"(value) : "d"(UART_SCRATCH));
	expect_equal(value, 0x123456cc);
	value = 0x12345678;
	__asm__ volatile("inw %%dx, %%ax" : "+a"(value) : "d"(UART_MODEM_STATUS));
	expect_equal(value >> 8, 0x1234cc);
}

/* A dedicated guest has the ports of the machine itself. */
static bool ports_are_bochs(void)
{
	if (environment == SHARED || emulator_is_qemu())
		return false;
	tap_skip("a port of Bochs is one byte wide, and nobody's is 0");
	return true;
}

/* A wider access reaches as many ports as it has bytes. */
static void test_sizes(void)
{
	uint16_t word;
	uint32_t value;

	if (ports_are_bochs())
		return;
	__asm__ volatile("outw %0, %1" : : "a"((uint16_t)0x7e00), "d"((uint16_t)UART_MODEM_STATUS));
	expect_equal(port_in(UART_SCRATCH), 0x7e);
	__asm__ volatile("inw %1, %0" : "=a"(word) : "d"((uint16_t)UART_MODEM_STATUS));
	expect_equal(word >> 8, 0x7e);
	__asm__ volatile("inl %1, %0" : "=a"(value) : "d"((uint16_t)UART_MODEM_CONTROL));
	expect_equal(value >> 24, 0x7e);
	expect_equal(value >> 8 & 0x60, 0x60);
	__asm__ volatile("outl %0, %1"
			 : : "a"(0x81000000 | UART_OUT2), "d"((uint16_t)UART_MODEM_CONTROL));
	expect_equal(port_in(UART_SCRATCH), 0x81);
	expect_equal(port_in(UART_MODEM_CONTROL), UART_OUT2);
}

/* Linux uses neither INS nor OUTS on the devices that it has here. */
static bool string_instructions_missing(void)
{
	if (environment == SHARED)
		tap_skip("the VMM does not emulate INS and OUTS");
	return environment == SHARED;
}

static void test_string_input(void)
{
	uint8_t bytes[5] = { 0 };
	uint8_t *to = bytes;
	uint32_t count = 4;

	if (string_instructions_missing())
		return;
	port_out(UART_SCRATCH, 0x3c);
	__asm__ volatile("cld\n\trep insb"
			 : "+D"(to), "+c"(count) : "d"((uint16_t)UART_SCRATCH) : "memory");
	expect_equal(count, 0);
	expect_equal((uint32_t)to, (uint32_t)(bytes + 4));
	expect_equal(bytes[0], 0x3c);
	expect_equal(bytes[3], 0x3c);
	expect_equal(bytes[4], 0);
}

static void test_string_output(void)
{
	static const uint8_t bytes[] = { 1, 2, 3, 0x4b };
	const uint8_t *from = bytes;
	uint32_t count = sizeof(bytes);

	if (string_instructions_missing())
		return;
	__asm__ volatile("cld\n\trep outsb"
			 : "+S"(from), "+c"(count) : "d"((uint16_t)UART_SCRATCH) : "memory");
	expect_equal(count, 0);
	expect_equal((uint32_t)from, (uint32_t)(bytes + sizeof(bytes)));
	expect_equal(port_in(UART_SCRATCH), 0x4b);
}

static void test_nobody(void)
{
	uint32_t value;

	if (ports_are_bochs())
		return;
	expect_equal(port_in(NOBODY), 0xff);
	port_out(NOBODY, 0);
	__asm__ volatile("inl %1, %0" : "=a"(value) : "d"((uint16_t)NOBODY));
	expect_equal(value, 0xffffffff);
	__asm__ volatile("outb %%al, $0x80" : : "a"(0)); /* the delay port */
}

static void test_uart_scratch(void)
{
	for (uint32_t value = 0; value < 256; value += 51) {
		port_out(UART_SCRATCH, (uint8_t)value);
		expect_equal(port_in(UART_SCRATCH), value);
	}
}

static void test_uart_interrupts(void)
{
	port_out(UART_INTERRUPTS, 0xff);
	expect_equal(port_in(UART_INTERRUPTS), 0x0f);
	port_out(UART_INTERRUPTS, 0);
	expect_equal(port_in(UART_INTERRUPTS), 0);
	expect_equal(port_in(UART_IDENTIFY) & 1, 1); /* nothing waits */
}

static void test_uart_fifo(void)
{
	port_out(UART_FIFO_CONTROL, 1);
	expect_equal(port_in(UART_IDENTIFY) & UART_FIFOS, UART_FIFOS);
	port_out(UART_FIFO_CONTROL, 0);
	expect_equal(port_in(UART_IDENTIFY) & UART_FIFOS, 0);
}

static void test_uart_divisor(void)
{
	uint8_t low, high;

	port_out(UART_LINE_CONTROL, UART_8_BITS | UART_DIVISOR);
	expect_equal(port_in(UART_LINE_CONTROL), UART_8_BITS | UART_DIVISOR);
	low = port_in(UART);
	high = port_in(UART_INTERRUPTS);
	port_out(UART, 0x34);
	port_out(UART_INTERRUPTS, 0x12);
	expect_equal(port_in(UART), 0x34);
	expect_equal(port_in(UART_INTERRUPTS), 0x12);
	port_out(UART, low);
	port_out(UART_INTERRUPTS, high);
	port_out(UART_LINE_CONTROL, UART_8_BITS);
	expect_equal(port_in(UART_INTERRUPTS), 0);
}

/* As Linux's autoconfig() does: DTR, RTS, OUT1, OUT2 come back as DSR, CTS, RI, DCD. */
static void test_uart_loop(void)
{
	port_out(UART_MODEM_CONTROL, UART_LOOP | 0x0a);
	expect_equal(port_in(UART_MODEM_STATUS) & 0xf0, 0x90);
	port_out(UART_MODEM_CONTROL, UART_OUT2 | 3);
	expect_equal(port_in(UART_MODEM_CONTROL), UART_OUT2 | 3);
}

static void test_uart_status(void)
{
	uint32_t tries;

	for (tries = 100000; tries && (port_in(UART_LINE_STATUS) & 0x60) != 0x60; tries--)
		;
	expect_equal(port_in(UART_LINE_STATUS) & 0x60, 0x60);
}

static void test_pic_masks(void)
{
	for (uint32_t value = 0; value < 256; value += 51) {
		port_out(PIC_MASTER_MASK, (uint8_t)value);
		port_out(PIC_SLAVE_MASK, (uint8_t)~value);
		expect_equal(port_in(PIC_MASTER_MASK), value);
		expect_equal(port_in(PIC_SLAVE_MASK), 255 - value);
	}
	port_out(PIC_MASTER_MASK, 0xff);
	port_out(PIC_SLAVE_MASK, 0xff);
}

static uint32_t pit_latched(void)
{
	uint32_t low;

	port_out(PIT_CONTROL, PIT_LATCH_0);
	low = port_in(PIT_CHANNEL_0);
	return low | (uint32_t)port_in(PIT_CHANNEL_0) << 8;
}

static void test_pit_counts_down(void)
{
	uint32_t before, after;

	pit_start(20); /* once through in 50 ms */
	pit_delay(5000);
	before = pit_latched();
	pit_delay(5000);
	after = pit_latched();
	pit_stop();
	expect(before < PIT_HZ / 20);
	expect(after < before);
	expect(before - after > 5000 && before - after < 12000);
}

/* Channel 2 and port 0x61, by which Linux measures the time stamp counter. */
static void test_pit_channel_2(void)
{
	uint64_t start = time_stamp();
	uint32_t ms = time_stamps_per_ms();
	uint32_t ticks;

	expect(ms > 1000);
	start = time_stamp();
	pit_delay(20000);
	ticks = (uint32_t)(time_stamp() - start);
	expect(ticks > 18 * ms);
	expect(ticks < 30 * ms);
}

static uint8_t cmos_read(uint8_t index)
{
	port_out(CMOS_INDEX, index);
	return port_in(CMOS_DATA);
}

static void test_rtc_registers(void)
{
	uint8_t b = cmos_read(0x0b);

	expect_equal(cmos_read(0x0d) & 0x80, 0x80); /* the battery is good */
	expect_equal(b & 0x02, 0x02);		     /* 24 hours */
	expect_equal(cmos_read(0x0a) & 0x70, 0x20); /* the divider runs */
}

static uint32_t from_bcd(uint8_t value)
{
	return value / 16U * 10 + value % 16U;
}

static void test_rtc_time(void)
{
	uint32_t tries;

	for (tries = 100000; tries && (cmos_read(0x0a) & 0x80); tries--)
		;
	expect(tries);
	expect(from_bcd(cmos_read(0)) < 60);
	expect(from_bcd(cmos_read(2)) < 60);
	expect(from_bcd(cmos_read(4)) < 24);
	expect(from_bcd(cmos_read(7)) >= 1 && from_bcd(cmos_read(7)) <= 31);
	expect(from_bcd(cmos_read(8)) >= 1 && from_bcd(cmos_read(8)) <= 12);
	expect(from_bcd(cmos_read(9)) < 100);
}

static const struct tap_test ports_tests[] = {
	{ "ports-forms", test_forms },
	{ "ports-part-of-register", test_part_of_register },
	{ "ports-sizes", test_sizes },
	{ "ports-string-input", test_string_input },
	{ "ports-string-output", test_string_output },
	{ "ports-nobody", test_nobody },
	{ "ports-uart-scratch", test_uart_scratch },
	{ "ports-uart-interrupts", test_uart_interrupts },
	{ "ports-uart-fifo", test_uart_fifo },
	{ "ports-uart-divisor", test_uart_divisor },
	{ "ports-uart-loop", test_uart_loop },
	{ "ports-uart-status", test_uart_status },
	{ "ports-pic-masks", test_pic_masks },
	{ "ports-pit-counts-down", test_pit_counts_down },
	{ "ports-pit-channel-2", test_pit_channel_2 },
	{ "ports-rtc-registers", test_rtc_registers },
	{ "ports-rtc-time", test_rtc_time },
};
const struct tap_group group_ports = TAP_GROUP(ports_tests);
