/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: registers no handler, and halts for ever. What is typed on its console is dropped and
 * must not keep it awake.
 */
#include "print.h"
#include "rtos.h"

void main(void)
{
	print("deaf: halts\n");
	for (;;)
		interrupt_wait();
}
