/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks variables at file scope with who owns them. Whatever the VMM can change belongs to a core,
 * a vCPU or a VM, so cores share nothing that changes, and nothing needs a lock. What the whole
 * machine has in common is written at the start and only read from then on. The linker refuses a
 * variable without a mark (gandalf.lds), and `make check` names it.
 */
#pragma once

/* The variable belongs to the core that runs this instance of the VMM. It is zero at first, or
 * has an initialiser. */
#define OF_CORE __attribute__((section(".bss..core")))
#define OF_CORE_INITIALISED __attribute__((section(".data..core")))
/* The same for what has whole pages, which begin with one. */
#define OF_CORE_PAGES __attribute__((section(".bss..core_pages"), aligned(4096)))
/* The variable is an array with one element for each vCPU or VM. */
#define OF_GUESTS __attribute__((section(".bss..guests")))
/* The same for the trace rings, the consoles and the reports, which each core has for all guests
 * but uses for its own: they come last, so that a core need not have memory for those of others
 * (arch/ia32/instance.c). The size budgets do not count the trace rings. */
#define OF_TRACES __attribute__((section(".bss..trace")))
#define OF_CONSOLES __attribute__((section(".bss..consoles")))
#define OF_REPORTS __attribute__((section(".bss..reports")))
/* The variable belongs to the machine, and nobody writes to it once another core or a guest
 * runs. It is mapped read-only, as the whole image is, and that stops guests. It cannot stop the
 * VMM, which works with CR0.WP 0: but a debug build panics if a core has written to it, or if it
 * has changed (debug/machine_watch.c, debug/machine_check.c). */
#define OF_MACHINE __attribute__((section(".bss..machine")))
