/* SPDX-License-Identifier: Apache-2.0 */
/* Memory at an address that the VMM knows as a number: the page of a chip, or the outboxes. */
#ifndef GANDALF_UNIT_MAP_AT_H
#define GANDALF_UNIT_MAP_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Returns false if the test's own program is there. The memory is zero. */
static inline bool map_at(uintptr_t address, size_t size)
{
	return mmap((void *)address, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

#endif
