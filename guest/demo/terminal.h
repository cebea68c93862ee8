/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's console. Any task prints whole lines, and they do not tear apart what is typed into
 * the line editor. The prompt stands only where somebody is typing, so all that a reader at the
 * other end sees otherwise are whole lines.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

/* Prints one line and adds the line feed. It is called from tasks. */
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is the task that reads what is typed and passes every line to execute(). */
void terminal_run(void (*execute)(char *line)) __attribute__((noreturn));

#endif
