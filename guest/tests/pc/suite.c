/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PC test guest pc.elf: all tests of the emulated PC. Run natively, the same
 * image proves that the tests are right.
 */
#include "suite.h"

#include "machine.h"

void suite_run(void)
{
	const struct tap_group groups[] = {
		group_boot,   group_tables,	 group_exceptions, group_control, group_debug,
		group_ports,  group_interrupts,	 group_paging,	   group_spaces,
		group_descriptors, group_user,	 group_float,	   group_hypercalls,
	};

	machine_off(tap_run("pc", groups, sizeof(groups) / sizeof(groups[0])));
}
