/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hostile RTOS.
 */
#include "attack.h"

const struct attack platform_attacks[] = { { 0 } };

char platform_read(void)
{
	char c;

	/* With the flag 0, what arrives behind the read ends the wait. */
	interrupt_disable();
	while (!console_read(&c, 1)) {
		interrupt_wait();
		interrupt_disable();
	}
	interrupt_enable();
	return c;
}

void main(void)
{
	handlers_install();
	interrupt_enable();
	attack_run();
}
