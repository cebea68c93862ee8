/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a plug-in's options. See argument.h. */
#include "argument.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

/* end: the character behind the number. */
static uint64_t number_until(const char *text, char end)
{
	char *rest;
	uint64_t number = strtoull(text, &rest, 0);

	if (rest == text || *rest != end)
		fail("an option needs a number");
	return number;
}

uint64_t argument_number(const char *text)
{
	return number_until(text, '\0');
}

struct range argument_range(const char *text)
{
	const char *dash = strchr(text, '-');

	if (!dash)
		fail("an option needs LOW-HIGH");
	return (struct range){ number_until(text, '-'), number_until(dash + 1, '\0') };
}
