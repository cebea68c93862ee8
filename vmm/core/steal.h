/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long a vCPU of a Linux with several could have run while others had the CPU: RTOSes,
 * siblings in their turns, and the idle vCPU's work. Linux reads it in the shared page, and does
 * not charge it to the process that was current. Otherwise that process seems to have run all the
 * time, and whoever wakes up preempts it: hackbench on four vCPUs that share three cores switched
 * processes eight times as often as on three cores alone (docs/migration.md).
 */
#pragma once

#include "core/vcpu.h"

/* Notes at a switch who loses the core, and for how long who gets it has waited. Interrupts are
 * masked. */
void steal_switches(const struct vcpu *from, const struct vcpu *to);
/* Tells Linux, on a vCPU that arrives from another core, what it knew there. */
void steal_arrives(const struct vcpu *vcpu, u32 from);
/* The vCPU begins a life here, whose shared page is empty. What it has waited for before still
 * counts: Linux takes it ill if that ever becomes less. */
void steal_begins(const struct vcpu *vcpu);
