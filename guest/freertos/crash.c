/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the FreeRTOS demo. They are those that every demo has, and `crash`, which goes
 * wrong in every way that the VMM must survive.
 */
#include "commands.h"
#include "misdeed.h"
#include "terminal.h"

static void crash_list(void)
{
	for (const struct misdeed *misdeed = misdeeds; misdeed->name; misdeed++)
		terminal_print("crash %s: %s", misdeed->name, misdeed->text);
}

static void command_crash(const char *argument)
{
	const struct misdeed *misdeed = misdeed_find(argument);

	if (!misdeed) {
		crash_list();
		return;
	}
	if (!misdeed_possible(misdeed)) {
		terminal_print("crash: QEMU does not enforce segment limits; try %s in Bochs",
			       misdeed->name);
		return;
	}
	terminal_print("crash: %s", misdeed->text);
	misdeed->commit();
	terminal_print("crash: %s was let pass", misdeed->name);
}

const struct command commands[] = {
	COMMANDS_COMMON,
	{ "crash", "KIND", "makes the VMM stop this guest; without KIND lists them",
	  command_crash },
	{ 0 },
};
