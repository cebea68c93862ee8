/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on a network with an RTOS, for the table in operation.c. */
#ifndef BENCH_NETWORK_H
#define BENCH_NETWORK_H

/* Opens the network "bench", whose other guest sends a frame back if its payload begins with 1. */
void network_prepare(void);
/* A frame with 1,500 bytes of payload. */
void network_send_run(void);
/* One that is sent and comes back. */
void network_round_trip_run(void);
void network_finish(void);

#endif
