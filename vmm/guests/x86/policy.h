/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what differs between a Linux that shares its CPU and one that has it to itself. Each of the
 * two is one file with its policy and the operations that are its own: shared.c and dedicated.c.
 * Other files ask for one of these properties, and never which of the two a guest is.
 */
#pragma once

#include "core/vcpu.h"

struct policy {
	struct vcpu_operations operations;
	/* Flags that the guest always runs with: IF, which it cannot clear, or IOPL 1, with which
	 * IF is its own. */
	u32 eflags;
	/* The bits of the kernel's CS that its frames show once it has loaded TR. Until then they
	 * never show the RPL, since Linux compares CS with that of ring 0 before. */
	u32 code_mask;
	/* The vectors whose gates lead straight to ring 1, from the first to the last, beside
	 * those of exceptions, which never do; and what is added to the type of such a gate. */
	u8 first_gate, last_gate, gate_type;
	/* The VMM works for the guest with interrupts enabled. Where it does not, they come at
	 * points of long work only (x86_point()), and not while a process's page fault is
	 * served. */
	bool interruptible;
	bool any_vector; /* the guest chooses by which vectors interrupts come */
};

/* The operations that are the same for both. */
#define POLICY_OPERATIONS                                                                          \
	.page_fault = linux_page_fault, .general_protection = emulate_general_protection,          \
	.trap = linux_trap, .release = shadow_destroy, .instruction = linux_instruction,           \
	.fill = shadow_fill_for_vmm
