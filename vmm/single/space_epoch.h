/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A space (guests/x86/shadow/space.h) has nobody to follow where a guest has one vCPU.
 * several/space_epoch.h is the other one.
 */
#pragma once

struct space_epoch {
};
