/* SPDX-License-Identifier: Apache-2.0 */
/* A process of Linux that has a CPU as an RTOS beside it would. */
#ifndef BENCH_REALTIME_H
#define BENCH_REALTIME_H

/* Has the CPU for the first microseconds of each period but the first one, before all processes
 * that are not real-time ones. Returns only if it cannot have the CPU. */
void realtime_take(unsigned cpu, unsigned period_us, unsigned work_us);

#endif
