/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be typed on the demo's console.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

/* Executes one line and prints its answer. Changes the line. */
void command_execute(char *line);

#endif
