/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 16550A, with the sequences of Linux's 8250 driver that find out
 * what kind of chip it is.
 */
#include "unit.h"

#include "device/uart.h"

enum { DATA, IER, IIR, LCR, MCR, LSR, MSR, SCR };
#define FCR IIR

#define IER_RECEIVE 1
#define IER_TRANSMIT 2
#define OUT2 8
#define LOOP 0x10

static struct uart reset(void)
{
	struct uart uart;

	uart_reset(&uart);
	return uart;
}

/* FIFOs on, interrupt line connected. */
static struct uart opened(u8 trigger, u8 interrupts)
{
	struct uart uart = reset();

	uart_write(&uart, FCR, (u8)(trigger << 6 | 1));
	uart_write(&uart, MCR, 0x03 | OUT2);
	uart_write(&uart, IER, interrupts);
	return uart;
}

static void after_a_reset(void **state)
{
	static const u8 expected[8] = { 0, 0, 0x01, 0, 0, 0x60, 0xb0, 0 };
	struct uart uart = reset();

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(uart_read(&uart, i), expected[i]);
	assert_false(uart_interrupt(&uart));
	assert_int_equal(uart_transmit(&uart), -1);
}

/* serial8250 autoconfig(): is it a UART, and which? */
static void linux_finds_a_16550a(void **state)
{
	struct uart uart = reset();

	(void)state;
	uart_write(&uart, IER, 0);
	assert_int_equal(uart_read(&uart, IER) & 0x0f, 0);
	uart_write(&uart, IER, 0x0f);
	assert_int_equal(uart_read(&uart, IER) & 0x0f, 0x0f);
	uart_write(&uart, IER, 0);
	uart_write(&uart, MCR, LOOP | 0x0a);
	assert_int_equal(uart_read(&uart, MSR) & 0xf0, 0x90);
	uart_write(&uart, MCR, 0);
	uart_write(&uart, LCR, 0xbf);
	uart_write(&uart, FCR, 0);
	uart_write(&uart, LCR, 0);
	uart_write(&uart, FCR, 1);
	assert_int_equal(uart_read(&uart, IIR) >> 6, 3);
	/* Not a chip with an enhanced feature register, not an XScale. */
	uart_write(&uart, LCR, 0x80);
	assert_int_not_equal(uart_read(&uart, 2), 0);
	uart_write(&uart, LCR, 0);
	uart_write(&uart, IER, 0x40);
	assert_int_equal(uart_read(&uart, IER), 0);
	/* Not a 16750. */
	uart_write(&uart, FCR, 0x21);
	assert_int_equal(uart_read(&uart, IIR) & 0x20, 0);
	uart_write(&uart, SCR, 0x5a);
	assert_int_equal(uart_read(&uart, SCR), 0x5a);
}

/* serial8250_do_startup(): the test for chips that do not repeat THRE. */
static void enabling_repeats_the_transmit_interrupt(void **state)
{
	struct uart uart = opened(0, IER_TRANSMIT);

	(void)state;
	assert_true(uart_interrupt(&uart));
	assert_int_equal(uart_read(&uart, IIR), 0xc2);
	assert_false(uart_interrupt(&uart));
	assert_int_equal(uart_read(&uart, IIR), 0xc1);
	uart_write(&uart, IER, 0);
	uart_write(&uart, IER, IER_TRANSMIT);
	assert_true(uart_interrupt(&uart));
	assert_int_equal(uart_read(&uart, IIR), 0xc2);
	/* Writing the same value again is no edge. */
	uart_write(&uart, IER, IER_TRANSMIT);
	assert_int_equal(uart_read(&uart, IIR), 0xc1);
}

static void transmitting_empties_and_interrupts_again(void **state)
{
	struct uart uart = opened(0, IER_TRANSMIT);

	(void)state;
	uart_read(&uart, IIR);
	for (unsigned i = 0; i < UART_FIFO_SIZE; i++)
		uart_write(&uart, DATA, (u8)('a' + i));
	assert_int_equal(uart_read(&uart, LSR), 0);
	assert_false(uart_interrupt(&uart));
	for (unsigned i = 0; i < UART_FIFO_SIZE; i++) {
		assert_false(uart_interrupt(&uart));
		assert_int_equal(uart_output(&uart), 'a' + i);
		assert_int_equal(uart_transmit(&uart), 'a' + i);
	}
	assert_int_equal(uart_output(&uart), -1);
	assert_int_equal(uart_transmit(&uart), -1);
	assert_int_equal(uart_read(&uart, LSR), 0x60);
	assert_true(uart_interrupt(&uart));
	/* Writing takes the interrupt back as well as reading IIR does. */
	uart_write(&uart, DATA, 'x');
	assert_false(uart_interrupt(&uart));
}

static void interrupts_are_not_raised_by_enabling_a_busy_transmitter(void **state)
{
	struct uart uart = opened(0, 0);

	(void)state;
	uart_write(&uart, DATA, 'x');
	uart_write(&uart, IER, IER_TRANSMIT);
	assert_false(uart_interrupt(&uart));
	assert_int_equal(uart_transmit(&uart), 'x');
	assert_true(uart_interrupt(&uart));
}

static void receiving_with_trigger_levels(void **state)
{
	static const u8 levels[4] = { 1, 4, 8, 14 };

	(void)state;
	for (u8 trigger = 0; trigger < 4; trigger++) {
		struct uart uart = opened(trigger, IER_RECEIVE);

		for (unsigned i = 1; i <= UART_FIFO_SIZE; i++) {
			assert_true(uart_can_receive(&uart));
			uart_receive(&uart, (u8)i);
			assert_true(uart_interrupt(&uart));
			assert_int_equal(uart_read(&uart, IIR),
					 i < levels[trigger] ? 0xcc : 0xc4);
		}
		assert_false(uart_can_receive(&uart));
		for (unsigned i = 1; i <= UART_FIFO_SIZE; i++) {
			assert_int_equal(uart_read(&uart, LSR), 0x61);
			assert_int_equal(uart_read(&uart, DATA), i);
		}
		assert_int_equal(uart_read(&uart, LSR), 0x60);
		assert_false(uart_interrupt(&uart));
		assert_int_equal(uart_read(&uart, DATA), 0);
	}
}

static void without_fifos_there_is_room_for_one(void **state)
{
	struct uart uart = reset();

	(void)state;
	uart_write(&uart, MCR, OUT2);
	uart_write(&uart, IER, IER_RECEIVE);
	uart_receive(&uart, 'a');
	assert_false(uart_can_receive(&uart));
	assert_int_equal(uart_read(&uart, IIR), 0x04);
	/* Without room a byte is lost. */
	uart_receive(&uart, 'b');
	assert_int_equal(uart_read(&uart, LSR), 0x61);
	assert_int_equal(uart_read(&uart, DATA), 'a');
	uart_write(&uart, DATA, 'c');
	assert_int_equal(uart_read(&uart, LSR), 0);
	assert_int_equal(uart_transmit(&uart), 'c');
}

static void fifo_control_clears(void **state)
{
	struct uart uart = opened(0, 0);

	(void)state;
	uart_receive(&uart, 'r');
	uart_write(&uart, DATA, 't');
	uart_write(&uart, FCR, 0x03);
	assert_int_equal(uart_read(&uart, LSR), 0);
	uart_receive(&uart, 'r');
	uart_write(&uart, FCR, 0x05);
	assert_int_equal(uart_read(&uart, LSR), 0x61);
	/* Switching off empties both. */
	uart_write(&uart, DATA, 't');
	uart_write(&uart, FCR, 0);
	assert_int_equal(uart_read(&uart, LSR), 0x60);
	assert_int_equal(uart_read(&uart, IIR), 0x01);
}

static void loopback_cuts_the_line(void **state)
{
	struct uart uart = opened(0, IER_RECEIVE | IER_TRANSMIT);

	(void)state;
	uart_write(&uart, MCR, LOOP | OUT2);
	assert_false(uart_can_receive(&uart));
	uart_receive(&uart, 'x');
	assert_int_equal(uart_read(&uart, LSR), 0x60);
	uart_write(&uart, DATA, 'l');
	assert_int_equal(uart_transmit(&uart), -1);
	assert_int_equal(uart_read(&uart, LSR), 0x60);
	/* Interrupts stay inside. */
	assert_false(uart_interrupt(&uart));
}

static void loopback_returns_modem_lines(void **state)
{
	static const struct {
		u8 control;
		u8 status;
	} cases[] = { { 0, 0 }, { 1, 0x20 }, { 2, 0x10 }, { 4, 0x40 }, { 8, 0x80 }, { 15, 0xf0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct uart uart = reset();

		uart_write(&uart, MCR, LOOP | cases[i].control);
		assert_int_equal(uart_read(&uart, MSR) & 0xf0, cases[i].status);
	}
}

static void received_bytes_come_first(void **state)
{
	struct uart uart = opened(0, 0x0f);

	(void)state;
	uart_receive(&uart, 'x');
	assert_int_equal(uart_read(&uart, IIR), 0xc4);
	assert_int_equal(uart_read(&uart, DATA), 'x');
	assert_int_equal(uart_read(&uart, IIR), 0xc2);
	assert_int_equal(uart_read(&uart, IIR), 0xc1);
}

static void out2_connects_the_interrupt_line(void **state)
{
	struct uart uart = opened(0, IER_TRANSMIT);

	(void)state;
	uart_write(&uart, MCR, 0x03);
	assert_false(uart_interrupt(&uart));
	uart_write(&uart, MCR, OUT2);
	assert_true(uart_interrupt(&uart));
}

static void the_divisor_is_behind_dlab(void **state)
{
	struct uart uart = reset();

	(void)state;
	uart_write(&uart, LCR, 0x83);
	uart_write(&uart, 0, 0x01);
	uart_write(&uart, 1, 0x02);
	assert_int_equal(uart_read(&uart, 0), 1);
	assert_int_equal(uart_read(&uart, 1), 2);
	assert_int_equal(uart_transmit(&uart), -1);
	uart_write(&uart, LCR, 0x03);
	assert_int_equal(uart_read(&uart, LCR), 0x03);
	assert_int_equal(uart_read(&uart, IER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_reset),
		cmocka_unit_test(linux_finds_a_16550a),
		cmocka_unit_test(enabling_repeats_the_transmit_interrupt),
		cmocka_unit_test(transmitting_empties_and_interrupts_again),
		cmocka_unit_test(interrupts_are_not_raised_by_enabling_a_busy_transmitter),
		cmocka_unit_test(receiving_with_trigger_levels),
		cmocka_unit_test(without_fifos_there_is_room_for_one),
		cmocka_unit_test(fifo_control_clears),
		cmocka_unit_test(loopback_cuts_the_line),
		cmocka_unit_test(loopback_returns_modem_lines),
		cmocka_unit_test(received_bytes_come_first),
		cmocka_unit_test(out2_connects_the_interrupt_line),
		cmocka_unit_test(the_divisor_is_behind_dlab),
	};

	return RUN_TESTS(tests);
}
