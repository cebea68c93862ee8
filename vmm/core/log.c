/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log and the pump between consoles and UART. During boot, when nothing
 * interrupts yet, lines are sent at once; later the UART's interrupt drains
 * them, a few bytes at a time.
 */
#include "core/log.h"

#include "arch.h"
#include "core/core.h"
#include "core/schedule.h"
#include "core/work.h"
#include "lib/format.h"
#include "lib/owner.h"
#include "platform/pc/power.h"
#include "platform/pc/serial.h"
#include "platform/pc/vga.h"

#define PUMP_BYTES 2u
#define SCREEN_RATE 10u /* times in a millisecond that the screen is written to */
#define PANIC_TEXT_SIZE 256
#define TAKE_BACK_WAIT 20u /* milliseconds at most */

OF_GUESTS struct console_mux consoles;
OF_CORE struct console *log_console;
OF_CORE bool log_pauses;
OF_CORE static bool has_uart; /* it answers; a guest may have had it meanwhile */
OF_CORE static struct deadline screen;
OF_MACHINE static u16 uart_port;
OF_MACHINE static u32 uart_baud;
OF_CORE static char *copy;
OF_CORE static u32 copy_room;
/* What moves output to the outside now. */
OF_CORE static void (*pump)(void);
static _Noreturn void panic_tell(void);
/* What a panic ends with. */
OF_CORE_INITIALISED static void (*panic_end)(void) = panic_tell;
OF_CORE static char panic_text[PANIC_TEXT_SIZE];

void log_copy(char *to, u32 size)
{
	copy = to;
	copy_room = size;
}

/* The idle vCPU lets more urgent guests run between two characters. */
static bool log_breathes(void)
{
	return core.guests_started && core.current == &idle_vcpu && !idle_vcpu.working;
}

/* Between two characters, and behind what the UART has been given. */
static void log_pause(void)
{
	if (log_pauses)
		work_pause(command_input);
	if (log_breathes())
		schedule_breathe();
}

static void log_put(char character)
{
	bool put;

	EXPECTS_MASKED();
	/* Its guest may have been stopped at a pause: the rest is left out, since it would be
	 * masked. */
	if (log_pauses && core.current->state != VCPU_RUNNING)
		return;
	put = console_put(&consoles, log_console, character);
	log_pause();
	if (put && log_breathes() && copy_room > 1 && character != '\r') {
		*copy++ = character;
		*copy = '\0';
		copy_room--;
	}
}

static void log_list(const char *pattern, va_list arguments)
{
	format_each(log_put, pattern, arguments);
	if (core.guests_started)
		log_pump();
	else
		log_flush();
	log_pause();
}

void log_text(const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	log_list(pattern, arguments);
	va_end(arguments);
}

void log_line(const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	log_list(pattern, arguments);
	va_end(arguments);
	log_text("\r\n");
}

/* At boot, and from a guest that had the CPU to itself, and its ports. */
static void uart_take(void)
{
	has_uart = uart_port != 0 && serial_init(uart_port, uart_baud);
}

/* Few bytes at a time, since interrupts wait: the UART interrupts again for the rest. */
static void uart_pump(void)
{
	unsigned room = serial_room();
	int byte;

	for (u32 i = 0; i < PUMP_BYTES && i < room && (byte = console_output(&consoles)) >= 0; i++)
		serial_write((u8)byte);
	serial_expect_room(core.guests_started && console_has_output(&consoles));
}

/* The same for the screen, which does not interrupt: a deadline has it done. */
static void screen_pump(void)
{
	int byte;

	for (u32 i = 0;
	     i < PUMP_BYTES && vga_is_ready() && (byte = console_output(&consoles)) >= 0; i++)
		vga_write((u8)byte);
}

void log_tell(void)
{
	EXPECTS_MASKED();
	for (u32 i = 0; i < GANDALF_GUESTS_MAXIMUM; i++)
		if (vcpus[i].state != VCPU_OFF)
			vcpus[i].operations->console(&vcpus[i]);
}

static u64 screen_expire(UNUSED struct deadline *deadline)
{
	screen_pump();
	log_tell();
	return console_has_output(&consoles) ? rdtsc() + time_tsc_khz / SCREEN_RATE : TIME_NEVER;
}

bool log_receive(void)
{
	int byte;
	u32 i;

	for (i = 0; i < PUMP_BYTES && (byte = serial_read()) >= 0; i++)
		console_input(&consoles, (u8)byte);
	return i != 0;
}

static void screen_pump_later(void)
{
	if (!deadline_is_set(&screen))
		deadline_set(&screen, rdtsc() + time_tsc_khz / SCREEN_RATE);
}

static void pump_nothing(void)
{
}

static void pump_choose(void)
{
	if (has_uart)
		pump = uart_pump;
	else
		pump = core.guests_started ? screen_pump_later : screen_pump;
}

static void consoles_init(void)
{
	console_mux_init(&consoles);
	log_console = console_add(&consoles, "vmm");
}

void log_init_elsewhere(void (*to)(void), void (*end)(void))
{
	consoles_init();
	pump = to;
	panic_end = end;
}

void log_init(u16 port, u32 baud)
{
	consoles_init();
	log_console->drops_oldest = true;
	uart_port = port;
	uart_baud = baud;
	uart_take();
	if (!has_uart)
		vga_clear();
	pump_choose();
}

void log_pump(void)
{
	EXPECTS_MASKED();
	pump();
}

void log_flush(void)
{
	do {
		if (has_uart)
			uart_pump();
		else
			screen_pump();
	} while (console_has_output(&consoles));
	while (has_uart && !serial_idle())
		;
}

void log_start(void)
{
	core.guests_started = true;
	deadline_init(&screen, screen_expire, 0);
	pump_choose();
	if (has_uart)
		serial_enable_interrupts();
	log_pump();
}

void log_leave(void)
{
	log_flush();
	pump = pump_nothing;
}

/* What the guest has written leaves before the UART is emptied: its FIFO at 9600 baud. */
void log_take_back(void)
{
	u64 end = rdtsc() + (u64)TAKE_BACK_WAIT * time_tsc_khz;

	while (has_uart && !serial_idle() && rdtsc() < end)
		;
	console_forget_line(&consoles);
	uart_take();
	log_start();
}

void log_panic(void)
{
	log_line("the VMM stops: %s", panic_text);
}

static _Noreturn void panic_tell(void)
{
	core.guests_started = core.pauses = false; /* nothing interrupts, and nobody else runs */
	if (pump == pump_nothing)
		uart_take();
	pump_choose();
	log_panic();
	log_flush();
	power_stop_machine();
}

/* Whatever has gone wrong, what is left to do needs neither the stack nor the address space on
 * which it did; the arguments may lie there. */
_Noreturn void panic(const char *pattern, ...)
{
	va_list arguments;

	interrupts_disable(panic);
	va_start(arguments, pattern);
	format_list(panic_text, sizeof(panic_text), pattern, arguments);
	va_end(arguments);
	switch_to_boot_stack(panic_end);
}
