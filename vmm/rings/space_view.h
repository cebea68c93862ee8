/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A space (guests/x86/shadow/space.h) has one directory where rings tell a guest's kernel from its
 * processes. two_level/space_view.h is the other one.
 */
#pragma once

struct space_view {
};
