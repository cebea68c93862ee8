/* SPDX-License-Identifier: Apache-2.0 */
/* The command alive, which gives the VMM's watchdog a sign of life of this Linux. */
#include <unistd.h>

#include "command.h"
#include "guest.h"

int command_alive(const struct arguments *arguments)
{
	long result;

	do {
		result = device_alive();
		if (result < 0)
			return refused(result);
		if (arguments->options & OPTION_EVERY)
			usleep(arguments->every * 1000);
	} while (arguments->options & OPTION_EVERY);
	return 0;
}
