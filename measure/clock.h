/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's virtual time, in nanoseconds, while instructions are executed. */
#ifndef GANDALF_MEASURE_CLOCK_H
#define GANDALF_MEASURE_CLOCK_H

#include <stdint.h>

/* QEMU's own reading; only where a delivery is about to come. */
int64_t clock_ask(void);
/* A delivery is about to come: clock_now() goes on from here. */
void clock_set(void);
/* The time, as the last look and the instructions since then tell it. */
uint64_t clock_now(void);
/* An interrupt is delivered: looks whether the local APIC's timer has expired. */
void clock_look_at_timer(void);
/* When the timer expired whose interrupt was delivered last. */
uint64_t clock_timer_expiry(void);

#endif
