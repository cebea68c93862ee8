/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's console: whole lines from any task, and a line editor that they do
 * not tear apart. The prompt stands only where somebody is typing, so all that
 * a reader at the other end sees otherwise are whole lines.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

/* Prints one line; the line feed is added. To be called from tasks. */
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The task that reads what is typed and passes every line to execute(). */
void terminal_run(void (*execute)(char *line)) __attribute__((noreturn));

#endif
