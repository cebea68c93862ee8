/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of page tables do with the pages of SCRATCH, and how faults must look. */
#ifndef PAGING_H
#define PAGING_H

#include "machine.h"

#define READ_WRITE (PAGE_P | PAGE_W)
#define FAULT_WRITE 2
#define FAULT_PRESENT 1

static volatile uint32_t *const page = (uint32_t *)SCRATCH;
/* In the next page of SCRATCH. */
static volatile uint32_t *const next = (uint32_t *)(SCRATCH + PAGE_SIZE);

/* Nothing is mapped there; the n-th frame begins with 0x1000 + n. */
void scratch_begin(void);
/* These may fault; then nothing is read, and `trap` has it. */
uint32_t page_try_read(volatile uint32_t *address);
void page_try_write(volatile uint32_t *address, uint32_t value);
/* The last was a page fault at the address. */
void fault_check(const volatile void *address, uint32_t error);

#endif
