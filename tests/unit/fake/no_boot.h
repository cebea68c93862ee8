/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core calls while it boots, for tests that link such files but begin behind the boot; and
 * string_equals(), since lib/string.c would take the place of the host's functions.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "arch/ia32/entry.h"
#include "arch/ia32/fpu.h"
#include "arch/ia32/segment.h"
#include "lib/string.h"

void trap_init(void)
{
	abort();
}

void segment_init(void)
{
	abort();
}

u32 fpu_init(UNUSED u32 features)
{
	abort();
}

bool string_equals(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
