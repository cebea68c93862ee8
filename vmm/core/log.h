/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's log, a console of its own beside those of the guests, and the way
 * from all consoles to the outside: the UART, or VGA text where there is none.
 */
#pragma once

#include "device/console.h"

extern struct console_mux consoles;

/* port: of the UART, 0 for none; then lines go to VGA text. */
void log_init(u16 port, u32 baud);
/* On a core that has neither: to is called when there is output, end behind a panic. */
void log_init_elsewhere(void (*to)(void), void (*end)(void));
/* What the panic was for. */
void log_panic(void);
/* One line, without its line feed. About 100 instructions a character; the idle vCPU
 * lets interrupts in after each. */
void log_line(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
/* A part of a line. */
void log_text(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/* From here on what the idle vCPU logs goes to a string too, as long as it fits; size 0
 * ends that. */
void log_copy(char *to, u32 size);

extern struct console *log_console;
/* Interrupts are let in behind each character, though it is not the idle vCPU that logs. */
extern bool log_pauses;
/* Moves some of what the consoles hold to the outside. Called at the UART's
 * interrupt and whenever a console got output. */
void log_pump(void);
/* Tells guests that there is input for them, or room for output. */
void log_tell(void);
/* Some of what came in to the consoles, and whether anything did; at the UART's interrupt only. */
bool log_receive(void);
/* From here on interrupts move the bytes, and nothing waits for the UART. */
void log_start(void);
/* Leaves the UART or the screen to a guest: output waits from here on. */
void log_leave(void);
/* After that guest: sets the UART up again. */
void log_take_back(void);
/* Waits until all output has left; only for boot and power-off. */
void log_flush(void);

/* Logs why and stops the machine: only for the VMM's own errors and for a table
 * that cannot be used. */
_Noreturn void panic(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
