/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a plug-in that cannot do what it is asked for. See fail.h. */
#include "fail.h"

#include <stdio.h>
#include <stdlib.h>

void fail(const char *why)
{
	fprintf(stderr, "%s: %s\n", plugin_name, why);
	_Exit(1);
}

void check(const char *wrong)
{
	if (wrong)
		fail(wrong);
}
