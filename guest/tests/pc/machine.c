/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start of the PC test guest, its console, its interrupt flag and its end.
 */
#include "machine.h"

#include <string.h>

#include "print.h"
#include "suite.h"

#define UART 0x3f8
#define UART_LINE_STATUS (UART + 5)
#define UART_LINE_CONTROL (UART + 3)
#define UART_8_BITS 3
#define UART_TRANSMIT_EMPTY 0x20
#define UART_ALL_SENT 0x40

/* QEMU's isa-debug-exit: the status is twice the value plus 1. */
#define EXIT_PORT 0xf4
#define EXIT_PASSED 0x10
#define EXIT_FAILED 0x11

enum environment environment;
uint32_t boot_parameters;

void pc_main(uint32_t parameters);

static void uart_put(char c)
{
	while (!(port_in(UART_LINE_STATUS) & UART_TRANSMIT_EMPTY))
		;
	port_out(UART, (uint8_t)c);
}

void console_write(const char *text, size_t length)
{
	for (; length; text++, length--) {
		if (*text == '\n')
			uart_put('\r');
		uart_put(*text);
	}
}

void irq_disable(void)
{
	if (environment == SHARED)
		SHARED_PAGE->interrupt_flag = 0;
	else
		__asm__ volatile("cli" : : : "memory");
}

void irq_enable(void)
{
	if (environment == SHARED)
		SHARED_ALIAS->interrupt_flag = GANDALF_INTERRUPT_FLAG;
	else
		__asm__ volatile("sti" : : : "memory");
}

bool irq_enabled(void)
{
	if (environment == SHARED)
		return SHARED_PAGE->interrupt_flag != 0;
	return eflags_read() & EFLAGS_INTERRUPT;
}

bool command_line_begins(const char *text)
{
	uint32_t line = *(const uint32_t *)(boot_parameters + BOOT_COMMAND_LINE);

	return memcmp((const char *)line, text, strlen(text)) == 0;
}

void irq_wait(void)
{
	__asm__ volatile("sti\n\thlt" : : : "memory");
}

uint32_t kernel_ring(void)
{
	uint16_t cs;

	__asm__("movw %%cs, %0" : "=r"(cs));
	return cs & 3;
}

static enum environment environment_find(void)
{
	if (kernel_ring() == 0)
		return NATIVE;
	return eflags_read() >> EFLAGS_IOPL_SHIFT & 3 ? DEDICATED : SHARED;
}

void machine_off(bool passed)
{
	while (!(port_in(UART_LINE_STATUS) & UART_ALL_SENT))
		;
	irq_disable();
	if (environment == NATIVE)
		port_out(EXIT_PORT, passed ? EXIT_PASSED : EXIT_FAILED);
	for (;;)
		__asm__ volatile("cli\n\thlt");
}

void pc_main(uint32_t parameters)
{
	static const char *const names[] = { "native", "shared", "dedicated" };

	boot_parameters = parameters;
	environment = environment_find();
	port_out(UART_LINE_CONTROL, UART_8_BITS);
	print("pc: %s\n", names[environment]);
	suite_run();
}

#define CMOS_INDEX 0x70
#define CMOS_DATA 0x71
#define CMOS_FREE 0x50 /* a byte that nobody uses */
#define CMOS_MARK 0x5a

bool is_second_run(void)
{
	bool second;

	port_out(CMOS_INDEX, CMOS_FREE);
	second = port_in(CMOS_DATA) == CMOS_MARK;
	port_out(CMOS_INDEX, CMOS_FREE);
	port_out(CMOS_DATA, CMOS_MARK);
	return second;
}
