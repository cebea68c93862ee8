/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vCPU keeps nothing of views where rings tell a guest's kernel from its processes.
 * two_level/vcpu_view.h is the other one.
 */
#pragma once

struct vcpu_view {
};

struct view_luggage {
};
