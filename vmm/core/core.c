/* SPDX-License-Identifier: Apache-2.0 */
/* The core's own state, and the tables of vCPUs and VMs that run on it. */
#include "core/core.h"

#include "lib/owner.h"

OF_CORE struct core core;
OF_CORE_INITIALISED struct vcpu idle_vcpu = {.id = 0xffff, .state = VCPU_RUNNING};
OF_GUESTS struct vcpu vcpus[GANDALF_GUESTS_MAXIMUM];
OF_GUESTS struct vm vms[GANDALF_GUESTS_MAXIMUM];
