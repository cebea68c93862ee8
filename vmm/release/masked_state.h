/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether interrupts are masked, where a function relies on it: the debug build asserts what stands
 * here (debug/masked_state.h), this one does not look.
 */
#pragma once

/* At the head of a function that touches what interrupt handlers share (core/work.h). */
#define EXPECTS_MASKED() ((void)0)
/* At the head of work for a vCPU that may be long: interrupts come, if its work lets them. */
#define EXPECTS_OPEN(vcpu) ((void)(vcpu))
