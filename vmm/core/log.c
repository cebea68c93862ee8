/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the log, and pumps between the consoles and the UART. During boot, when nothing interrupts
 * yet, lines are sent at once. Later the UART's interrupt drains the consoles, a few bytes at a
 * time.
 */
#include "core/log.h"

#include "arch.h"
#include "core/core.h"
#include "core/masked_sections.h"
#include "core/schedule.h"
#include "core/work.h"
#include "display.h"
#include "lib/format.h"
#include "lib/owner.h"
#include "mute.h"
#include "platform.h"

#define RECEIVED_BYTES 2u /* how many are taken at an interrupt, at most */
#define SCREEN_RATE 10u /* how often in a millisecond the screen gets a few bytes */
#define PANIC_TEXT_SIZE 256
#define TAKE_BACK_WAIT 20u /* milliseconds, at most, for what a guest has left in the UART */

OF_CONSOLES struct console_mux consoles;
OF_CORE struct console *log_console;
OF_CORE bool log_pauses;
OF_CORE static bool has_uart; /* a UART has answered when it was set up last */
OF_CORE static struct deadline screen;
OF_MACHINE static u16 uart_port;
OF_MACHINE static u32 uart_baud;
OF_CORE static char *copy;
OF_CORE static u32 copy_room;
/* The function that moves output to the outside at present. */
OF_CORE static void (*pump)(void);
static _Noreturn void panic_tell(void);
/* What a panic ends with. */
OF_CORE_INITIALISED static void (*panic_end)(void) = panic_tell;
OF_CORE char panic_text[PANIC_TEXT_SIZE];

void log_copy(char *to, u32 size)
{
	copy = to;
	copy_room = size;
}

/* Returns whether the idle vCPU logs; it lets more urgent guests run between two characters. */
static bool log_may_admit(void)
{
	return core.guests_started && core.current == &idle_vcpu && !idle_vcpu.working;
}

void log_pause(void)
{
	if (log_pauses)
		work_admit(command_input);
	if (log_may_admit())
		schedule_admit();
}

static void log_put(char character)
{
	EXPECTS_MASKED();
	/* If the current guest has been stopped in a pause, no further pause is possible. The rest
	 * of the text is left out, since it would be masked as a whole. */
	if (log_pauses && core.current->state != VCPU_RUNNING)
		return;
	console_put_dropping(&consoles, log_console, character);
	log_pause();
	if (log_may_admit() && copy_room > 1 && character != '\r') {
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

/* Sets up the UART, at boot or after a guest had its ports. */
static void uart_take(void)
{
	has_uart = uart_port != 0 && serial_init(uart_port, uart_baud);
}

bool log_has_uart(void)
{
	return has_uart;
}

/* Gives the UART a few bytes, since interrupts wait meanwhile. It interrupts again for the rest. */
static void uart_pump(void)
{
	unsigned room = serial_room();
	int byte;

	for (u32 i = 0;
	     i < PUMP_BYTES && i < room && (byte = console_output(&consoles)) >= 0; i++) {
		serial_write((u8)byte);
		display_copy((u8)byte);
	}
	serial_expect_room(core.guests_started && console_has_output(&consoles));
}

/* Gives the screen a few bytes. The screen does not interrupt, so a deadline calls this again. */
static void screen_pump(void)
{
	int byte;

	for (u32 i = 0;
	     i < PUMP_BYTES && display_is_ready() && (byte = console_output(&consoles)) >= 0; i++)
		display_write((u8)byte);
}

void log_tell(void)
{
	EXPECTS_MASKED();
	for (u32 i = 0; i < PLACES_MAXIMUM; i++)
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

	for (i = 0; i < RECEIVED_BYTES && (byte = serial_read()) >= 0; i++)
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

void log_redirect(void (*to)(void), void (*end)(void))
{
	pump = to;
	panic_end = end;
}

void log_init(u16 port, u32 baud)
{
	console_mux_init(&consoles);
	log_console = console_add(&consoles, "vmm");
	uart_port = port;
	uart_baud = baud;
	uart_take();
	if (!has_uart)
		display_clear();
	pump_choose();
}

void log_pump(void)
{
	EXPECTS_MASKED();
	pump();
}

void log_flush(void)
{
	mute_end(&consoles);
	do {
		if (has_uart)
			uart_pump();
		else
			screen_pump();
	} while (console_has_output(&consoles));
	display_flush();
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

/* Lets what the guest has written leave first, since the UART is emptied when it is set up. A full
 * FIFO takes 17 ms at 9600 baud. */
void log_take_back(void)
{
	u64 end = rdtsc() + (u64)TAKE_BACK_WAIT * time_tsc_khz;

	while (has_uart && !serial_idle() && rdtsc() < end)
		;
	console_forget_line(&consoles);
	uart_take();
	log_start();
}

static _Noreturn void panic_tell(void)
{
	core.guests_started = core.pauses = false; /* from now on nothing interrupts this */
	if (pump == pump_nothing)
		uart_take();
	pump_choose();
	log_line("the VMM stops: %s", panic_text);
	log_flush();
	power_stop_machine();
}

/* Formats the text first, since the arguments may lie on the current stack. The rest is done on the
 * boot stack and in the VMM's own address space, whatever has gone wrong with the current ones. */
_Noreturn void panic(const char *pattern, ...)
{
	va_list arguments;

	interrupts_disable(panic);
	va_start(arguments, pattern);
	format_list(panic_text, sizeof(panic_text), pattern, arguments);
	va_end(arguments);
	switch_to_boot_stack(panic_end);
}
