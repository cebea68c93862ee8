/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's log, which is a console beside those of the guests, and the way from all consoles to
 * the outside. That is the UART, or the screen if there is no UART.
 */
#pragma once

#include "device/console.h"

extern struct console_mux consoles;

/* Empties the consoles and sets up the UART at an I/O port. If port is 0, or nothing answers there,
 * output goes to the screen. baud is in bits per second. */
void log_init(u16 port, u32 baud);
/* For a core that has neither: to is called when there is output, and end after a panic. */
void log_redirect(void (*to)(void), void (*end)(void));
/* Why the VMM stops. */
extern char panic_text[];
/* Logs one line; the pattern (lib/format.h) is without the line feed. A character takes about 100
 * instructions. If the idle vCPU logs, interrupts are let in after each character. */
void log_line(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
/* Logs a part of a line. */
void log_text(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/* Has all that the idle vCPU logs written to a string, too, as far as it fits in size bytes.
 * size 0 ends this. */
void log_copy(char *to, u32 size);

extern struct console *log_console;
/* true lets interrupts in after each character even if it is not the idle vCPU that logs. */
extern bool log_pauses;
/* Lets interrupts in, if the caller allows it: between two characters, between two steps of a
 * search for what is to be logged, and after the UART has been given something. */
void log_pause(void);
/* Moves a few bytes from the consoles to the outside. Called at the UART's interrupt and whenever a
 * console got output. */
void log_pump(void);
/* Tells the guests that their consoles may have input for them, or room for output. */
void log_tell(void);
/* Moves a few received bytes to the consoles. Returns whether there were any. Only the UART's
 * interrupt calls it. */
bool log_receive(void);
/* Returns whether the description has a UART and that has answered. */
MUST_CHECK bool log_has_uart(void);
/* Has interrupts move the bytes from now on, so that nothing waits for the UART. */
void log_start(void);
/* Leaves the UART or the screen to a guest. Output waits in the consoles from now on. */
void log_leave(void);
/* Sets the UART up again when that guest has stopped. */
void log_take_back(void);
/* Waits until all output has left. This takes long, so it is for times at which no guest waits:
 * boot, panic, power-off, and the start of a guest that gets the UART. */
void log_flush(void);

/* Logs a reason and stops the machine. This is for the VMM's own errors, and for a table or a
 * machine that cannot be used. */
_Noreturn void panic(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
