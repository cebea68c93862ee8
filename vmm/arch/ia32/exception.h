/* SPDX-License-Identifier: Apache-2.0 */
/* Names exceptions and registers, for reasons and reports. */
#pragma once

#include "core/vcpu.h"

/* Returns the manuals' name of an exception, with its mnemonic (SDM vol. 3, table 6-1). Any vector
 * is allowed. */
const char *exception_name(unsigned vector);
/* Log where a stopped vCPU was, and what its registers held: the two parts of a report. */
void exception_log_place(const struct vcpu *vcpu);
void exception_log_registers(const struct vcpu *vcpu);
