/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guests bad-NAME.elf: each commits the misdeed that gave it its name
 * (guest/rtos/misdeed.c) and must not live to print the last lines here. The
 * Makefile defines MISDEED and GUEST, its own name.
 */
#include "guest.h"
#include "misdeed.h"
#include "print.h"

void main(void)
{
	const struct misdeed *misdeed = misdeed_find(MISDEED);

	if (!misdeed_possible(misdeed)) {
		print("ok 1 %s # skip QEMU does not enforce segment limits\n", misdeed->name);
		print("PASS " GUEST "\n");
		return;
	}
	print(GUEST ": %s\n", misdeed->text);
	misdeed->commit();
	print("not ok 1 %s\n", misdeed->name);
	print("FAIL " GUEST ": it was let pass\n");
}
