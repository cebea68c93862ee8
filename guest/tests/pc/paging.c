/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of SCRATCH, for the tests of page tables. See paging.h. */
#include "paging.h"

#include "tap.h"

void scratch_begin(void)
{
	for (uint32_t i = 0; i < 1024; i++)
		scratch_map(i, NULL, 0);
	for (uint32_t i = 0; i < 4; i++)
		*(volatile uint32_t *)scratch_frame[i] = 0x1000 + i;
	cr3_write((uint32_t)page_directory);
}

uint32_t page_try_read(volatile uint32_t *address)
{
	uint32_t value = 0;

	TRAP_PROVOKE("movl (%1), %0", : "=r"(value) : "r"(address) : "memory");
	return value;
}

void page_try_write(volatile uint32_t *address, uint32_t value)
{
	TRAP_PROVOKE("movl %0, (%1)", : : "r"(value), "r"(address) : "memory");
}

void fault_check(const volatile void *address, uint32_t error)
{
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.error, error);
	expect_equal(trap.cr2, (uint32_t)address);
	if (environment != NATIVE)
		expect_equal(SHARED_PAGE->cr2, (uint32_t)address);
}
