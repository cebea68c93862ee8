/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions and registers by their names, for reasons and reports. */
#pragma once

#include "core/vcpu.h"

/* As the manuals call it (SDM vol. 3, table 6-1), with its mnemonic. */
const char *exception_name(unsigned vector);
/* Logs where a stopped vCPU was, and its registers, in the two parts of a report. */
void exception_log_place(const struct vcpu *vcpu);
void exception_log_registers(const struct vcpu *vcpu);
