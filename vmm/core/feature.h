/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the VMM that not every image has, beside kinds of guests (core/guest_kind.h): an
 * image is linked for a profile (vmm/profile), and what its systems do not use is not in it.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"
#include "lib/unit.h"

/* Bits of a part: that of the guest's flags where a guest asks for it, or one beside those. */
enum { FEATURE_CONTROL = GANDALF_GUEST_CONTROL, FEATURE_STRICT_TLS = GANDALF_GUEST_STRICT_TLS,
       FEATURE_CHANNELS = 1u << 31, FEATURE_CORES = 1u << 30 };

struct feature {
	u32 bit;
};

/* At file scope, in the file that holds a part: the image has it. */
#define FEATURE(name, number)                                \
	static const struct feature name##_feature = {number}; \
	UNIT(features, struct feature, name##_feature)
UNITS(features, struct feature);

/* Panics with a sentence if the system asks for a part that this image lacks. */
void features_check(void);
