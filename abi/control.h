/* SPDX-License-Identifier: MIT */
/*
 * How a guest whose description says `control = true` manages the others: what
 * it may read from the VMM, write to it and ask of it, by the three hypercalls
 * READ, WRITE and ACT of gandalf.h. Included unchanged by the VMM, by Linux's
 * driver and by gandalfctl. All fields are little-endian; times are time stamps.
 */
#ifndef GANDALF_CONTROL_H
#define GANDALF_CONTROL_H

/* Bytes that READ or WRITE moves at once; more of a request is left undone. */
#define GANDALF_CONTROL_CHUNK 512

/*
 * What EBX names: an object, and in bits 8 to 15 the place of its guest in the
 * system description. GANDALF_PLACE_VMM stands for the VMM's own log.
 */
#define GANDALF_PLACE_SHIFT 8
#define GANDALF_PLACE_VMM 0xff

/* To read. ESI: offset in bytes; READ returns 0 behind the end. */
#define GANDALF_OBJECT_SYSTEM 0   /* struct gandalf_system_status */
#define GANDALF_OBJECT_GUEST 1    /* struct gandalf_guest_status */
#define GANDALF_OBJECT_COUNTERS 2 /* uint32_t of each in GANDALF_COUNTER_LIST */
#define GANDALF_OBJECT_TRACE 3    /* the trace ring, GANDALF_TRACE_EVENTS events */
#define GANDALF_OBJECT_REPORT 4   /* text: why the guest was stopped last */
/* The ring of the last GANDALF_CONSOLE_RING bytes of a guest's console or of the
 * VMM's log: byte n of all that was ever written is at n % GANDALF_CONSOLE_RING.
 * Written, it is what was typed; WRITE returns the bytes for which was room. */
#define GANDALF_OBJECT_CONSOLE 5
/* To write: the image of an RTOS that is not running, from address 0 of its
 * memory up. ESI: offset. The first write spoils the image that was there. */
#define GANDALF_OBJECT_IMAGE 6

#define GANDALF_CONSOLE_RING 4096
#define GANDALF_TRACE_EVENTS 1024

/* What ACT does with a guest; EBX: action, place in bits 8 to 15. */
#define GANDALF_ACTION_START 0
#define GANDALF_ACTION_STOP 1
#define GANDALF_ACTION_RESTART 2 /* starts one that does not run */
#define GANDALF_ACTION_PAUSE 3   /* its timers go on and count overruns */
#define GANDALF_ACTION_RESUME 4
/* The image written before is complete. ECX: its bytes, EDX: its entry point. */
#define GANDALF_ACTION_LOAD 5

/* Results, beside GANDALF_ERROR_ARGUMENT: no such object, action or guest, or
 * the caller itself. Their values are Linux's. */
#define GANDALF_ERROR_PERMISSION (-1) /* the caller has not control = true */
#define GANDALF_ERROR_STATE (-3)      /* the guest is not in a state for it */
#define GANDALF_ERROR_IMAGE (-8)      /* the guest's image is not complete */
#define GANDALF_ERROR_BUSY (-16)      /* the VMM works for the guest: try again */
#define GANDALF_ERROR_SPACE (-28)     /* there is no room for such an image */

/* gandalf_guest_status.state */
#define GANDALF_STATE_OFF 0      /* never started, or switched off */
#define GANDALF_STATE_RUNNING 1
#define GANDALF_STATE_STOPPED 2  /* by the VMM, with a report */
#define GANDALF_STATE_STARTING 3 /* is being loaded */
#define GANDALF_STATE_PAUSED 4

#define GANDALF_REASON_SIZE 72
#define GANDALF_REPORT_SIZE 1536

/*
 * A counter for every path through the VMM, per vCPU: name, what it counts. The
 * consoles print them, tests watch them move, and the measurements compare them
 * with what is seen from outside.
 */
#define GANDALF_COUNTER_LIST(X)                                               \
	X(entries, "entries into the VMM")                                    \
	X(interrupts, "physical interrupts while it ran")                     \
	X(vmm_interrupts, "physical interrupts while the VMM worked for it")  \
	X(vmm_preemptions, "times that the VMM's work for it was preempted")  \
	X(upcalls, "interrupts given to the guest amid the VMM's work for it") \
	X(upcalls_nested, "of those, in work for the handler of another")     \
	X(upcall_refusals, "points passed because too much was suspended")   \
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
	X(gdt_quick_writes, "of these, those that took the short way")        \
	X(tls_flips, "strict TLS: flips of a flat segment")                   \
	X(fpu_switches, "loads of the floating-point state")                  \
	X(timer_expiries, "expiries of the guest's timer")                    \
	X(timer_overruns, "timer expiries merged into a later one")           \
	X(dropped_interrupts, "interrupts without a handler")                 \
	X(unknown_ports, "accesses to ports that do not exist")               \
	X(restarts, "restarts of the guest")                                  \
	X(refusals, "attempts to manage others without control = true")

/*
 * The events of the trace ring: name, what the two arguments are. The state is that of the vCPU
 * that is left: 0 off, 1 it could go on, 2 halted, 3 paused. The shortest hypercalls have no event;
 * of these HALT is told by that state, if the guest has left the CPU.
 */
#define GANDALF_TRACE_LIST(X)                                                 \
	X(trap, "vector, EIP")                                                \
	X(interrupt, "vector, EIP")                                           \
	X(exception, "vector, EIP")                                           \
	X(deliver, "vector, EIP")                                             \
	X(upcall, "vector, EIP")                                              \
	X(defer, "vector, EIP")                                               \
	X(hypercall, "number, EBX")                                           \
	X(emulate, "operation, EIP")                                          \
	X(page_fault, "address, EIP")                                         \
	X(port, "port and direction, value")                                  \
	X(cr3, "page directory, hit")                                         \
	X(switch_to, "vCPU, state")                                           \
	X(start, "guest, entry")                                              \
	X(stop, "guest, reason")

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The VMM writes all of these. */
struct gandalf_system_status {
	uint32_t abi_version;   /* GANDALF_ABI_VERSION */
	uint32_t guest_count;
	uint32_t place;         /* of the guest that reads this */
	uint32_t tsc_khz;       /* frequency of all times, kHz */
	uint32_t pool_frames;   /* of 4 KiB, for shadow page tables and the like */
	uint32_t pool_free;     /* how many are free, as the VMM keeps count */
	uint32_t pool_counted;  /* the same, as its list of free frames has them */
	uint32_t trace_next;    /* events ever recorded; the next goes to this number
				 * % GANDALF_TRACE_EVENTS */
	uint32_t log_bytes;     /* ever written to the VMM's log, modulo 2^32 */
	uint32_t reserved;
	uint64_t now;
};

struct gandalf_guest_status {
	char name[16];          /* ends with a 0 byte */
	uint32_t kind;          /* GANDALF_KIND_... of table.h */
	uint32_t state;         /* GANDALF_STATE_... */
	uint32_t priority;
	uint32_t memory_size;   /* bytes */
	uint32_t restarts;      /* after resets, faults and by command */
	uint32_t fault_restarts; /* of those, by the policy on_fault */
	uint32_t flags;         /* GANDALF_GUEST_... of table.h */
	uint32_t image_room;    /* bytes that an image may have; 0: it takes none */
	uint32_t watchdog_ms;   /* silence that counts as a fault; 0: none */
	uint32_t console_bytes; /* ever written to its console, modulo 2^32 */
	uint64_t ran;           /* time spent running */
	uint64_t started;       /* when, last; 0: never */
	char reason[GANDALF_REASON_SIZE]; /* why it was stopped last, or "" */
};

/* An event of the trace ring. */
struct gandalf_trace_event {
	uint64_t time;
	uint16_t type;          /* index in GANDALF_TRACE_LIST */
	uint16_t vcpu;          /* place of its guest; 0xffff: the idle vCPU */
	uint32_t first, second; /* what they are, GANDALF_TRACE_LIST says */
};

/*
 * What a program asks of Linux's driver, by an ioctl on /dev/gandalf. Returns the
 * bytes moved or 0; errors are those above as errno. A request may be longer than
 * GANDALF_CONTROL_CHUNK: the driver makes as many hypercalls as it takes.
 */
struct gandalf_request {
	uint32_t operation;     /* GANDALF_HYPERCALL_READ, WRITE, ACT or ALIVE */
	uint32_t what;          /* object or action, with a place */
	uint32_t size;          /* bytes; of the image for GANDALF_ACTION_LOAD */
	uint32_t offset;        /* in the object; GANDALF_ACTION_LOAD: entry point */
	uint64_t address;       /* of the program's bytes, for READ and WRITE */
};

#endif /* __ASSEMBLER__ */

/* _IOW('G', 1, struct gandalf_request) */
#define GANDALF_IOCTL 0x40184701
#endif
