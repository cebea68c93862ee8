/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo of every RTOS, which has a periodic task, its figures, and a console with commands. All
 * RTOSes share this folder. The functions whose names begin with os_ are each RTOS's own.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The RTOS's own part of the demo supplies these. All but the first two are called from tasks. */
uint32_t os_time_stamp_khz(void);
/* Returns the time stamp at which the last tick was due. */
uint64_t os_timer_expiry(void);
/* Return the milliseconds since the start, and sleep until one or two more have passed. */
uint32_t os_tick(void);
void os_tick_sleep(void);
void os_interrupts_disable(void);
void os_interrupts_enable(void);
/* Take and release the lock with which only one task prints at a time. */
void os_output_lock(void);
void os_output_unlock(void);
size_t os_console_read(char *to, size_t size);
/* Sleeps until something may have been typed since the last call. */
void os_key_wait(void);
/* Move all bytes through the guest's first channel, and wait until that is done. Return false if
 * the other guest has begun a new life. Only control_loop() calls them, and only if there is a
 * channel. */
bool os_channel_send(const char *from, uint32_t size);
bool os_channel_receive(char *to, uint32_t size);
/* Lets the task that calls float_task_check() call it once more. */
void os_float_task_wake(void);

/* The shared part offers these. */

struct statistics; /* statistics.h */

struct sample {
	uint32_t latency; /* in cycles, from the expiry to the task */
	uint32_t missed;  /* activations that did not happen before this one */
};

/* Makes a sample. now is the time stamp of the task's first instruction, at most a tick after the
 * expiry. */
struct sample sample_take(uint64_t now, uint32_t missed);

/* Adds a sample and prints a line when a second is over. It uses floating point. */
void measurement_add(const struct sample *sample);
/* Counts a sample that could not be passed on to measurement_add(). */
void measurement_lose(void);
/* Forgets all figures before the next one is added. */
void measurement_reset(void);
/* Copies all figures of one moment. It is called by a task that is less urgent than the one that
 * calls measurement_add(). */
void measurement_copy(struct statistics *to);

/* It is true if each line prints a distribution, too, and begins the figures anew
 * (freertos/demo.c). */
extern const bool measurement_anew;

/* Begins or ends the floating-point check, which prints a line per second. */
void float_task_run(bool run);
/* Checks until the check is ended. It runs in a task whose registers the RTOS saves. */
void float_task_check(void);

#endif
