/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of threads on several CPUs, for the table in operation.c. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <stdint.h>

/* membarrier(): Linux calls a function on each CPU that runs a thread of the process. */
void ipi_prepare(void);
void ipi_run(void);
void ipi_finish(void);

/* munmap() of a page that was written to; it is measured from that call on. */
void shootdown_prepare(void);
void shootdown_run(void);
void shootdown_apart_run(void);
uint32_t shootdown_began(void);
void shootdown_finish(void);

#endif
