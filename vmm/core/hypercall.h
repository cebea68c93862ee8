/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hypercalls (abi/gandalf.h): one dispatcher, and a list that the linker puts together, to which
 * each file adds those that it serves (lib/unit.h).
 */
#pragma once

#include "core/vcpu.h"
#include "lib/unit.h"

/* Numbers are below. */
#define HYPERCALLS 64

/* For whom a hypercall is. */
enum { HYPERCALL_OF_LINUX = 1, HYPERCALL_OF_RTOS = 2, HYPERCALL_OF_ALL = 3 };

struct hypercall {
	u32 number; /* GANDALF_HYPERCALL_... */
	u32 guests; /* HYPERCALL_OF_... */
	hypercall_function function;
};

/* At file scope: the guests have this hypercall in every image that the file is part of. */
#define HYPERCALL(call_number, call_guests, call_function)                                        \
	static const struct hypercall hypercall_##call_number = {                                 \
		.number = call_number, .guests = call_guests, .function = call_function,          \
	};                                                                                        \
	UNIT(hypercalls, struct hypercall, hypercall_##call_number)
UNITS(hypercalls, struct hypercall);

/* Makes the tables of the image's hypercalls by number, one for each sort of guests; at boot. */
void hypercall_init(void);
/* Gives a vCPU the table of its kind. */
void hypercall_give(struct vcpu *vcpu);

/* By the number in the frame's EAX, in the vCPU's table: an entry into the VMM.
 * Returns what the guest finds in EAX. */
u32 trap_hypercall(struct frame *frame);
/* Stops the guest: the pointer of its hypercall leads outside its memory. Returns 0. */
u32 hypercall_bad_address(struct vcpu *vcpu, u32 address);
