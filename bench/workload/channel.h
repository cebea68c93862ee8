/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on a channel to an RTOS, for the table in operation.c. */
#ifndef BENCH_CHANNEL_H
#define BENCH_CHANNEL_H

/* Opens the channel to an RTOS that sends back what it is sent, and has a message go both ways. */
void channel_round_trip_prepare(void);
void channel_round_trip_run(void);

/* Opens the channel to an RTOS that takes all and gives bytes that count up. The latter goes on
 * where the last operation ended, and looks at the ends only, since looking at all would be most
 * of what is measured. */
void channel_throughput_prepare(void);
void channel_throughput_run(void);
void channel_throughput_back_run(void);

void channel_finish(void);

#endif
