/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the parts of the VMM that not every image has. An image is linked for a profile
 * (vmm/profile) without the parts that its systems do not use. Kinds of guests are such parts, too,
 * but have a list of their own (core/guest_kind.h).
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"
#include "lib/unit.h"

/* The bit of each part. If a flag of a guest asks for the part it is the bit of that flag, and if a
 * flag of the table does it is that one's, moved behind those. */
#define FEATURE_OF_TABLE 32u
enum { FEATURE_CONTROL = GANDALF_GUEST_CONTROL, FEATURE_STRICT_TLS = GANDALF_GUEST_STRICT_TLS,
       FEATURE_MIGRATION = GANDALF_GUEST_MIGRATES, FEATURE_REMEDIES = GANDALF_GUEST_REMEDIES,
       FEATURE_YIELD = GANDALF_GUEST_SPINS, FEATURE_TRAP_POLICY = GANDALF_GUEST_TRAP,
       FEATURE_CHANNELS = 0x40,
       FEATURE_SCREEN = GANDALF_TABLE_SCREEN * FEATURE_OF_TABLE };

struct feature {
	u32 bit;
};

/* Says that an image with this file has a part. It is used at file scope. */
#define FEATURE(name, number)                                \
	static const struct feature name##_feature = {number}; \
	UNIT(features, struct feature, name##_feature)
UNITS(features, struct feature);

/* Returns those of the wanted bits whose parts this image lacks. */
static inline u32 features_lacking(u32 wanted)
{
	const struct feature *const *at;

	for (at = UNITS_FIRST(features); at < UNITS_END(features); at++)
		wanted &= ~(*at)->bit;
	return wanted;
}

/* Panics with a sentence if the system asks for a part that this image lacks. */
void features_check(void);
