/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what a space (guests/x86/shadow/space.h) has beyond its directory, which is that of the
 * kernel's view. rings/space_view.h takes the place of this where there is one view.
 */
#pragma once

#include "lib/types.h"

struct space_view {
	u32 process; /* frame of the directory with the process's view */
};
