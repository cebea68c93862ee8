/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the checks of a debug build, which entry.S calls before each return to a guest. */
#include "debug/machine_check.h"
#include "debug/shadow_check.h"
#include "machine_watch.h"

void debug_return(void);

void debug_return(void)
{
	machine_watch_check();
	machine_check();
	shadow_check_return();
}
