/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what functions say about interrupts being masked, where they rely on it. The debug build
 * checks it (debug/masked_state.h); in this build it is a note for the reader.
 */
#pragma once

/* Says that interrupts are masked. It is at the head of functions that touch what interrupt
 * handlers share (core/work.h). */
#define EXPECTS_MASKED() ((void)0)
/* Says that interrupts are enabled if the vCPU's work is interruptible. It is at the head of
 * functions that may take long. */
#define EXPECTS_UNMASKED(vcpu) ((void)(vcpu))
