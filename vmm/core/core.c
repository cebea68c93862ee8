/* SPDX-License-Identifier: Apache-2.0 */
/* The core's own state, and the tables of what runs on it. */
#include "core/core.h"

struct core core;
struct vcpu idle_vcpu = {.id = 0xffff, .state = VCPU_RUNNING};
__attribute__((section(".vcpu"))) struct vcpu vcpus[GANDALF_GUESTS_MAXIMUM];
__attribute__((section(".vcpu"))) struct vm vms[GANDALF_GUESTS_MAXIMUM];
