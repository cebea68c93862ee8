/* SPDX-License-Identifier: Apache-2.0 */
/* A Unix socket over which a measurement is begun and ended while the machine is stopped. */
#ifndef GANDALF_MEASURE_CONTROL_H
#define GANDALF_MEASURE_CONTROL_H

/* command: carries out a line, returns what is wrong with it or a null pointer. Returns
 * likewise. */
const char *control_open(const char *path, const char *(*command)(const char *line));
/* Tells whoever is connected that the measurement has ended by itself. */
void control_tell_end(void);

#endif
