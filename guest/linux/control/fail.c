/* SPDX-License-Identifier: Apache-2.0 */
/* Says what went wrong. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

int fail(const char *pattern, ...)
{
	va_list arguments;

	fflush(stdout);
	fputs("gandalfctl: ", stderr);
	va_start(arguments, pattern);
	vfprintf(stderr, pattern, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return 1;
}
