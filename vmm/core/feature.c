/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the parts that the system's description asks for with those of this image. */
#include "core/feature.h"

#include "core/log.h"
#include "core/module.h"
#include "lib/string.h"

/* The names of the parts, by their bits. */
static const char names[] = "strict TLS\0"
			    "control\0"
			    "migration\0"
			    "remedies\0"
			    "yield\0"
			    "trap policy\0"
			    "channels\0"
			    "screen";

void features_check(void)
{
	u32 wanted = (system_table.flags & GANDALF_TABLE_SCREEN) * FEATURE_OF_TABLE;

	if (system_table.channel_count != 0)
		wanted |= FEATURE_CHANNELS;
	for (u32 i = 0; i < system_table.guest_count; i++)
		wanted |= system_table.guests[i].flags;
	wanted = features_lacking(wanted);
	if (wanted != 0)
		panic("this VMM lacks %s", string_of_list(names, (u32)__builtin_ctz(wanted)));
}
