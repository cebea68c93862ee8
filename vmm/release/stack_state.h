/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what is said about the room that a VMM stack has left. The debug build checks it
 * (debug/stack_state.h); in this build it is a note for the reader.
 */
#pragma once

/* Says that the current vCPU's VMM stack has room for any interrupt. It is at the head of what may
 * be behind other interrupts on the same stack. */
#define EXPECTS_STACK(vcpu) ((void)(vcpu))
