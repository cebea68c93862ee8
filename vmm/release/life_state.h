/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what is said about the states of a vCPU and of its VM. The debug build checks it
 * (debug/life_state.h); in this build it is a note for the reader.
 */
#pragma once

/* Says that both states belong together. One that halts or goes on although its VM has ended would
 * be a dead vCPU that the next notice wakes. */
#define EXPECTS_LIFE(vcpu) ((void)(vcpu))
