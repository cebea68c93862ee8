/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the parts that the system's description asks for with those of this image. */
#include "core/feature.h"

#include "core/log.h"
#include "core/module.h"

void features_check(void)
{
	u32 wanted = system_table.channel_count != 0 ? FEATURE_CHANNELS : 0;
	const struct feature *const *at;

	for (u32 i = 0; i < system_table.guest_count; i++)
		wanted |= system_table.guests[i].flags;
	for (at = UNITS_FIRST(features); at < UNITS_END(features); at++)
		wanted &= ~(*at)->bit;
	if (wanted != 0)
		panic("this VMM lacks %s", wanted & FEATURE_CHANNELS     ? "channels"
					   : wanted & FEATURE_CONTROL    ? "control"
					   : wanted & FEATURE_STRICT_TLS ? "strict TLS"
					   : wanted & FEATURE_MIGRATION  ? "migration"
									 : "yielding spins");
}
