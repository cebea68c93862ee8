/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: sleeps until a Linux rings its doorbell, and tells how often that
 * was, cumulative:
 *
 *	doorbells=N
 */
#include "guest.h"
#include "print.h"

void main(void)
{
	uint32_t told = 0;

	handlers_install();
	print("ready\n");
	for (;;) {
		interrupt_wait();
		if (interrupt_count[GANDALF_VECTOR_DOORBELL] == told)
			continue;
		told = interrupt_count[GANDALF_VECTOR_DOORBELL];
		print("doorbells=%u\n", told);
	}
}
