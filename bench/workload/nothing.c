/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program: what `bench` executes to measure fork and exec. */
#include "system.h"

int program(int count, char **arguments)
{
	(void)count;
	(void)arguments;
	return 0;
}
