/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of a ring in the guest's memory (options.ring): all that was written to it while a
 * measurement was on, of which the ring itself keeps the last only.
 */
#ifndef GANDALF_MEASURE_HISTORY_H
#define GANDALF_MEASURE_HISTORY_H

#include <stdint.h>

/* Opens the file options.history, if it is wanted. Returns what is wrong, or a null pointer. */
const char *history_open(void);
/* A measurement begins: what the ring holds already is no part of it. */
void history_begin(void);
/* Copies what is new, if it is so much that it should not wait. */
void history_look(void);
/* Copies all that is new. Fails if the file takes no more. */
void history_end(void);
/* How many entries were overwritten before they were copied. */
uint64_t history_lost(void);

#endif
