/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A panic of the VMM under test. A test that expects one says where it goes on, by setjmp(), and
 * then looks at the sentence. Any other panic ends the test's program.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"

static jmp_buf *panicked;    /* where the test goes on, once; NULL: it expects no panic */
static char last_words[120]; /* no sentence is longer */

_Noreturn void panic(const char *pattern, ...)
{
	jmp_buf *there = panicked;
	va_list arguments;

	va_start(arguments, pattern);
	vsnprintf(last_words, sizeof(last_words), pattern, arguments);
	va_end(arguments);
	if (there == NULL) {
		fprintf(stderr, "%s\n", last_words);
		abort();
	}
	panicked = NULL;
	longjmp(*there, 1);
}
