/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the VMM's entry state to main(): the second half of entry.S, in C.
 */
#include "print.h"
#include "rtos.h"

volatile struct gandalf_shared *shared_page;

void guest_main(volatile struct gandalf_shared *shared);

void guest_halt(void)
{
	interrupt_disable();
	timer_start(0);
	for (;;)
		interrupt_wait();
}

void guest_main(volatile struct gandalf_shared *shared)
{
	shared_page = shared;
	if (shared->abi_version == GANDALF_ABI_VERSION)
		main();
	else
		print("This guest needs version %u of the VMM's interface and the VMM has %u: "
		      "build both from one tree.\n",
		      GANDALF_ABI_VERSION, shared->abi_version);
	guest_halt();
}
