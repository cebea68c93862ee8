/* SPDX-License-Identifier: MIT */
/*
 * How a guest whose description says `control = true` manages the other guests. By the hypercalls
 * READ, WRITE and ACT of gandalf.h it reads objects of the VMM, writes to them, and acts on guests.
 * The VMM, Linux's driver and gandalfctl include this file unchanged. All fields are
 * little-endian. Times are values of the time stamp counter.
 */
#ifndef GANDALF_CONTROL_H
#define GANDALF_CONTROL_H

/* The most bytes that one READ or WRITE moves. A longer request moves this many. */
#define GANDALF_CONTROL_CHUNK 512

/*
 * EBX of READ and WRITE holds an object in bits 0 to 7, and in bits 8 to 15 the place of its guest
 * in the system description; the first is 0. For GANDALF_OBJECT_CONSOLE the place may be
 * GANDALF_PLACE_VMM, which stands for the VMM's own log.
 */
#define GANDALF_PLACE_SHIFT 8
#define GANDALF_PLACE_VMM 0xff

/* Objects that READ takes. ESI is an offset in bytes; READ returns 0 if it lies behind the end. */
#define GANDALF_OBJECT_SYSTEM 0   /* struct gandalf_system_status */
#define GANDALF_OBJECT_GUEST 1    /* struct gandalf_guest_status */
#define GANDALF_OBJECT_COUNTERS 2 /* uint32_t of each in GANDALF_COUNTER_LIST */
/* The trace ring that a guest has on a CPU, or the VMM's own with GANDALF_PLACE_VMM: a struct
 * gandalf_trace_ring. Bits 16 to 23 of EBX hold the CPU's number. It is empty if the guest has
 * no vCPU there. */
#define GANDALF_OBJECT_TRACE 3
#define GANDALF_TRACE_CPU_SHIFT 16
#define GANDALF_OBJECT_REPORT 4   /* text: why the guest was stopped last */
/* The ring of the last GANDALF_CONSOLE_RING bytes of a guest's console or of the VMM's log. Byte n
 * of all that was ever written is at n % GANDALF_CONSOLE_RING. What WRITE brings there counts as
 * typed on the guest's console; WRITE returns the bytes for which there was room. */
#define GANDALF_OBJECT_CONSOLE 5
/* For WRITE only: the image of an RTOS that does not run, from address 0 of its memory up. ESI is
 * the offset in bytes. The first write makes the image that was there unusable. On a machine with
 * several CPUs an image is written from its beginning: behind it, a write on the guest's own CPU is
 * GANDALF_ERROR_IMAGE unless the last one to begin an image did so there. */
#define GANDALF_OBJECT_IMAGE 6

/* struct gandalf_core_status of a CPU, whose number is the place. Not in an image for one CPU. */
#define GANDALF_OBJECT_CORE 7

#define GANDALF_CONSOLE_RING 4096 /* bytes */
#define GANDALF_TRACE_EVENTS 1024

/* Actions of ACT. EBX holds an action, and the place of the guest in bits 8 to 15. */
#define GANDALF_ACTION_START 0
#define GANDALF_ACTION_STOP 1
#define GANDALF_ACTION_RESTART 2 /* starts a guest that does not run, too */
#define GANDALF_ACTION_PAUSE 3   /* the guest's timers go on and count overruns */
#define GANDALF_ACTION_RESUME 4
/* Says that the image written before is complete. ECX holds its size in bytes, EDX its entry
 * point, and ESI its CRC-32, which is compared if the guest is on another CPU. It does not start
 * the guest. */
#define GANDALF_ACTION_LOAD 5
/* Of a guest with several vCPUs, also the caller's own. ECX holds the number of one. MOVE has it
 * move to the CPU in EDX, and returns 0 when it is there; until then it returns GANDALF_ERROR_BUSY
 * and is to be repeated. WHERE returns its CPU in bits 0 to 7, and above them how often it has
 * moved. GANDALF_ERROR_ARGUMENT: the vCPU does not move, or not there; GANDALF_ERROR_STATE: it does
 * not run, or that CPU does not. */
#define GANDALF_ACTION_MOVE 6
#define GANDALF_ACTION_WHERE 7
/* Of the same: ECX holds the number of a vCPU, EDX GANDALF_TICKS_... Returns what its moves have
 * taken of that, together, modulo 2^31, with the interrupts that came in between. WAITED is in
 * milliseconds instead. */
#define GANDALF_ACTION_TICKS 8
#define GANDALF_TICKS_LEAVE 0  /* its departures, on the CPUs that it has left */
#define GANDALF_TICKS_ARRIVE 1 /* its arrivals, on those that it has come to */
#define GANDALF_TICKS_SETTLE 2 /* its shadow page tables, when it first went on there */
#define GANDALF_TICKS_SPINS 3  /* no time: how often it has called GANDALF_HYPERCALL_YIELD */
#define GANDALF_TICKS_WAITED 4 /* while it could run and RTOSes had the CPU that it was on */
#define GANDALF_TICKS_KINDS 5
/* Of a guest whose vCPUs move, also the caller's own. ECX holds what is to be done from now on when
 * an RTOS takes a CPU from one of them, GANDALF_PREEMPTION_..., or GANDALF_PREEMPTION_ASK. Returns
 * what it is then. GANDALF_ERROR_ARGUMENT: there is no such policy, or the guest's vCPUs do not
 * move. */
#define GANDALF_ACTION_POLICY 9

/* Policies. NONE: the vCPU waits. ON_DEMAND: it goes on on another CPU until the RTOS is done.
 * PULL: the same; also, vCPUs that take turns go to CPUs that are idle, and one that spins has
 * those run that wait for their turn. DELAYED: the RTOS waits until the vCPU holds no spin lock
 * (gandalf_shared.locks), at most for gandalf_guest.delay_limit_us. TRAP: whenever a process enters
 * its kernel on a CPU with an RTOS, the vCPU goes on on another CPU until the kernel returns to a
 * process; if the RTOS takes the CPU meanwhile, as with ON_DEMAND. */
#define GANDALF_PREEMPTION_NONE 0
#define GANDALF_PREEMPTION_ON_DEMAND 1
#define GANDALF_PREEMPTION_PULL 2
#define GANDALF_PREEMPTION_TRAP 3
#define GANDALF_PREEMPTION_DELAYED 4
#define GANDALF_PREEMPTION_POLICIES 5 /* how many there are */
#define GANDALF_PREEMPTION_ASK 0xff   /* which one the guest has */

/* What concerns a guest on another CPU is done there. Until it is, WRITE and ACT return
 * GANDALF_ERROR_BUSY and are to be repeated unchanged, by the same vCPU, and one that does not
 * move: what another CPU asks for is done once more. ECX of the actions other than LOAD is any
 * number that tells one request from the one before it. */

/* Errors of READ, WRITE and ACT. GANDALF_ERROR_ARGUMENT of gandalf.h means here that there is no
 * such object, action or guest, or that the guest is the caller itself. The values are Linux's. */
#define GANDALF_ERROR_PERMISSION (-1) /* the caller's description lacks control = true */
#define GANDALF_ERROR_STATE (-3)      /* the guest's state does not allow it */
#define GANDALF_ERROR_IMAGE (-8)      /* the guest's image is not complete, or not what was sent */
#define GANDALF_ERROR_BUSY (-16)      /* the VMM works for the guest; try again */
#define GANDALF_ERROR_CPU (-19)       /* the VMM of the guest's CPU has stopped, or is not there */
#define GANDALF_ERROR_SPACE (-28)     /* the image does not fit, or the guest takes none */

/* Values of gandalf_guest_status.state. */
#define GANDALF_STATE_OFF 0      /* never started, or switched off */
#define GANDALF_STATE_RUNNING 1
#define GANDALF_STATE_STOPPED 2  /* stopped by the VMM, with a report */
#define GANDALF_STATE_STARTING 3 /* waits to be loaded, or is being loaded */
#define GANDALF_STATE_PAUSED 4

/* Values of gandalf_core_status.state. */
#define GANDALF_CORE_ABSENT 0  /* it has not come up, or its guests are still being made */
#define GANDALF_CORE_RUNS 1
#define GANDALF_CORE_STOPPED 2 /* the VMM has stopped on it, and with it all guests there */

#define GANDALF_REASON_SIZE 72
#define GANDALF_REPORT_SIZE 1536

/*
 * The counters that each vCPU has, one for every path through the VMM: X(name, what it counts). The
 * VMM's console prints them, tests watch them move, and measurements compare them with what is seen
 * from outside.
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
	X(refusals, "attempts to manage others without control = true")        \
	X(quick_ipis, "interrupts by guests of other CPUs that took the short way") \
	X(yields, "turns ended early, since the vCPU waited for a sibling")   \
	X(loans, "times its CPU was lent to the VMM's work for a vCPU that was to leave") \
	X(delays, "times it waited for a vCPU's spin locks")                  \
	X(delay_limits, "of these, those that ended before the locks were free")

/*
 * The events of a trace ring: X(name, what the two arguments are). The state in `switch_to` is
 * that of the vCPU that loses the CPU: 0 off, 1 it could go on, 2 halted, 3 paused. The shortest
 * hypercalls have no event. A HALT shows in that state, if the guest lost the CPU by it.
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

/*
 * Where a vCPU moves from CPU to CPU, the second word of `stop` on the one has this bit, the vCPU's
 * number << 8 and the CPU that it leaves for. That of `start` on the other has the same with the
 * CPU from which it comes. No reason has this bit, and no address of an entry.
 */
#define GANDALF_TRACE_MOVES 0x80000000u

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The state of the system. The VMM writes all fields of this and the next two structures. */
struct gandalf_system_status {
	uint32_t abi_version;   /* GANDALF_ABI_VERSION */
	uint32_t guest_count;
	uint32_t place;         /* the place of the guest that reads this */
	uint32_t tsc_khz;       /* frequency of the time stamp counter in kHz */
	/* Of the CPU that is asked: frames of 4 KiB for shadow page tables and the like. */
	uint32_t pool_frames;
	uint32_t pool_free;     /* free frames, as the VMM keeps count */
	uint32_t pool_counted;  /* free frames, as found in the list of them; equal to pool_free */
	uint32_t tsc_rate;      /* the same frequency in units of 10 Hz, as it was measured over
				 * seconds; 0: it is not known so well yet (gandalf_shared) */
	uint32_t log_bytes;     /* bytes ever written to the VMM's log, modulo 2^32 */
	uint32_t cores;         /* CPUs of the description; 0: the image is one for one CPU */
	uint64_t now;           /* the time at which this was read */
};

/* The state of a CPU and of the VMM's instance there. */
struct gandalf_core_status {
	uint32_t state;         /* GANDALF_CORE_...; all else is 0 if it is absent */
	uint32_t pool_frames, pool_free; /* as in gandalf_system_status */
	uint32_t pool_counted;  /* the same; of a CPU that is not asked itself, pool_free */
	uint32_t reserved[2];
	char reason[GANDALF_REASON_SIZE]; /* why it has stopped, or "" */
};

/* The state of a guest. */
struct gandalf_guest_status {
	char name[16];          /* ends with a 0 byte */
	uint32_t kind;          /* GANDALF_KIND_... of table.h */
	uint32_t state;         /* GANDALF_STATE_... */
	uint32_t priority;      /* 0 to 255; larger preempts smaller */
	uint32_t memory_size;   /* bytes */
	uint32_t restarts;      /* after resets and faults, and by command */
	uint32_t fault_restarts; /* those of them that the policy on_fault caused */
	uint32_t flags;         /* GANDALF_GUEST_... of table.h */
	uint32_t image_room;    /* the most bytes that a new image may have; 0: it takes none */
	uint32_t watchdog_ms;   /* silence that counts as a fault; 0: none */
	uint32_t console_bytes; /* bytes ever written to its console, modulo 2^32 */
	uint64_t ran;           /* time for which it has had the CPU, in all its lives */
	uint64_t started;       /* time of its last start; 0: never */
	char reason[GANDALF_REASON_SIZE]; /* why the VMM stopped it last, or "" */
};

/* An event of a trace ring. */
struct gandalf_trace_event {
	uint64_t time;
	uint16_t type;          /* index in GANDALF_TRACE_LIST */
	uint16_t vcpu;          /* place of its guest; 0xffff: the idle vCPU */
	uint32_t first, second; /* the arguments, as GANDALF_TRACE_LIST has them */
};

/* The last events of a guest on a CPU, whatever others do. The VMM writes all of it. */
struct gandalf_trace_ring {
	uint32_t next;          /* events ever recorded, modulo 2^32; the next goes to this
				 * number % GANDALF_TRACE_EVENTS */
	struct gandalf_trace_event events[GANDALF_TRACE_EVENTS];
};

/*
 * What a program asks of Linux's driver, by an ioctl on /dev/gandalf. The program writes all
 * fields. The ioctl returns the bytes moved or 0; errors are those above as errno. A request may be
 * longer than GANDALF_CONTROL_CHUNK: the driver makes as many hypercalls as it takes.
 */
struct gandalf_request {
	uint32_t operation;     /* GANDALF_HYPERCALL_READ, WRITE, ACT or ALIVE */
	uint32_t what;          /* object or action, with a place */
	uint32_t size;          /* bytes to move; for GANDALF_ACTION_LOAD, bytes of the image; for
				 * another action, what is in ECX */
	uint32_t offset;        /* bytes into the object; for GANDALF_ACTION_LOAD, the entry */
	uint64_t address;       /* where the program's bytes are, for READ and WRITE; for
				 * GANDALF_ACTION_LOAD, the image's CRC-32 */
};

#endif /* __ASSEMBLER__ */

/* _IOW('G', 1, struct gandalf_request) */
#define GANDALF_IOCTL 0x40184701
#endif
