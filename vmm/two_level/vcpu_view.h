/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists what a vCPU keeps of the two views of its address space (views.h): which one is loaded, and
 * what the direct ways between them need to know (view_switch.h). A vCPU that shares its CPU with
 * others finds it as it was. rings/vcpu_view.h takes the place of this where there are no views.
 */
#pragma once

#include "lib/types.h"

struct space;

/* What a vCPU that moves takes along of that (guests/x86/smp/luggage.h). The rest is of the seat
 * that it comes to, or follows. */
struct view_luggage {
	u32 in_process, entry; /* as in struct vcpu_view */
	u64 return_gate;       /* the gate to which INT3 leads */
};

/* Whether vcpu.watched is ever set. */
#define VCPU_MAY_BE_WATCHED false

struct vcpu_view {
	u32 in_process; /* the view of a process is loaded, and not its kernel's */
	u32 ready;      /* the process may make direct calls */
	/* The directories of both views of the space that is loaded. The process's is 0 while
	 * something has to be done before that view is shown: a page is awaited, or pages of the
	 * kernel alone have to be dropped. */
	u32 kernel, process;
	u32 tables;     /* where the VMM sees the kernel's directory */
	u32 esp0;       /* guest-linear address of ESP0 in the kernel's TSS */
	u32 entry;      /* EIP of the kernel's gate */
	u32 site;       /* EIP behind the INT3 by which the kernel returned last, or 0 */
	/* The page at which a process has faulted last, whose fault its kernel serves, or 0; with
	 * VIEW_SWITCH_AWAITED_NEAR in it. And the space in which that was, which is only
	 * compared. */
	u32 awaited;
	const struct space *awaited_space;
};
