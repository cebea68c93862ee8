/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hypercalls (abi/gandalf.h). Each file adds the hypercalls that it serves to a list of the linker
 * (lib/unit.h), and one dispatcher calls them.
 */
#pragma once

#include "core/vcpu.h"
#include "lib/unit.h"

/* All numbers of hypercalls are below this. */
#define HYPERCALLS 64

/* The guests that may make a hypercall; these are bits. */
enum { HYPERCALL_OF_LINUX = 1, HYPERCALL_OF_RTOS = 2, HYPERCALL_OF_ALL = 3 };

struct hypercall {
	u32 number; /* GANDALF_HYPERCALL_... */
	u32 guests; /* HYPERCALL_OF_... */
	hypercall_function function;
};

/* Gives guests a hypercall in every image that has this file. It is used at file scope. */
#define HYPERCALL(call_number, call_guests, call_function)                                        \
	static const struct hypercall hypercall_##call_number = {                                 \
		.number = call_number, .guests = call_guests, .function = call_function,          \
	};                                                                                        \
	UNIT(hypercalls, struct hypercall, hypercall_##call_number)
UNITS(hypercalls, struct hypercall);

/* Makes the tables of hypercalls by number from the list, one for Linux and one for RTOSes. Panics
 * if two hypercalls have one number. Called at boot. */
void hypercall_init(void);
/* Gives a vCPU the table for its kind of guest. */
void hypercall_give(struct vcpu *vcpu);

/* Enters the VMM for a hypercall, whose number and arguments are in the frame. Returns the guest's
 * answer. Stops a guest whose table lacks the number. */
u32 trap_hypercall(struct frame *frame);
/* Stops a guest for a hypercall whose pointer leads outside its memory. Returns 0. */
u32 hypercall_bad_address(struct vcpu *vcpu, u32 address);
