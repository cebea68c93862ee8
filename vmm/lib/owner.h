/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a variable at file scope is. Whatever the VMM can change belongs to a core, a vCPU or a VM,
 * so that nothing is shared between cores and nothing needs a lock; what the whole machine has in
 * common is written at the start and only read from then on. Each variable is marked with its
 * owner; the linker refuses one that is not (gandalf.lds), and `make check` names it.
 */
#pragma once

/* Of the core whose instance of the VMM this is: zero at first, or as it is initialised. */
#define OF_CORE __attribute__((section(".bss..core")))
#define OF_CORE_INITIALISED __attribute__((section(".data..core")))
/* The same for the trace ring, which budgets do not count. */
#define OF_CORE_TRACE __attribute__((section(".bss..trace")))
/* One element for each vCPU or VM. */
#define OF_GUESTS __attribute__((section(".bss..guests")))
/* Of the machine: read-only once the first guest runs. A debug build panics where it has been
 * changed since (debug/machine_check.c): the VMM itself works with CR0.WP 0, so a read-only page
 * would keep nobody else out than the guests, which cannot write any of this. */
#define OF_MACHINE __attribute__((section(".bss..machine")))
