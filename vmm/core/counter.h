/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter for every path through the VMM, per vCPU. The VMM's console prints
 * them, tests watch them move, and the measurements compare them with what is
 * seen from outside.
 */
#ifndef GANDALF_CORE_COUNTER_H
#define GANDALF_CORE_COUNTER_H

/* name, what it counts */
#define COUNTER_LIST(X)                                                       \
	X(entries, "entries into the VMM")                                    \
	X(interrupts, "physical interrupts while it ran")                     \
	X(vmm_interrupts, "physical interrupts while the VMM worked for it")  \
	X(vmm_preemptions, "times that the VMM's work for it was preempted")  \
	X(switches_in, "switches to this vCPU")                               \
	X(exceptions, "exceptions given to the guest")                        \
	X(deliveries, "interrupts delivered at once")                         \
	X(deferrals, "interrupts that had to wait for the flag")              \
	X(alias_faults, "waiting interrupts delivered by the alias page")     \
	X(return_faults, "waiting interrupts delivered at a return to ring 3") \
	X(returns, "IRETs emulated")                                          \
	X(hypercalls, "hypercalls")                                           \
	X(halts, "halts")                                                     \
	X(emulations, "instructions emulated")                                \
	X(port_accesses, "I/O instructions emulated")                         \
	X(cr3_loads, "CR3 loads by the guest")                                \
	X(invalidations, "INVLPG by the guest")                               \
	X(flushes, "flush hypercalls")                                        \
	X(flush_misses, "flush hypercalls for a space without shadow")        \
	X(page_faults, "page faults")                                         \
	X(guest_page_faults, "page faults given to the guest")                \
	X(shadow_fills, "shadow entries filled on a fault")                   \
	X(shadow_prefills, "shadow entries filled ahead")                     \
	X(space_hits, "CR3 loads that found a cached shadow")                 \
	X(space_misses, "CR3 loads that made a shadow")                       \
	X(space_evictions, "shadows dropped for want of frames")              \
	X(kernel_syncs, "rebuilds of the kernel half of the shadow")          \
	X(tls_loads, "TLS hypercalls")                                        \
	X(gdt_writes, "writes to the protected GDT page")                     \
	X(tls_flips, "strict TLS: flips of a flat segment")                   \
	X(fpu_switches, "loads of the floating-point state")                  \
	X(timer_expiries, "expiries of the guest's timer")                    \
	X(timer_overruns, "timer expiries merged into a later one")           \
	X(dropped_interrupts, "interrupts without a handler")                 \
	X(unknown_ports, "accesses to ports that do not exist")               \
	X(restarts, "restarts of the guest")

enum counter {
#define X(name, text) COUNTER_##name,
	COUNTER_LIST(X)
#undef X
	COUNTERS
};

#endif
