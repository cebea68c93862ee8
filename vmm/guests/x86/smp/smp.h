/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux with several vCPUs. The instance of the VMM on each one's core runs it as it would run
 * the one vCPU of another Linux: with shadow page tables, a shared page and an interrupt flag of
 * its own. What makes them one machine is the guest's memory and what is here: a local APIC for
 * each, interrupts between them, flushes that the shadows of all follow, and the mainboard,
 * which the first has and the others ask for their ports.
 */
#pragma once

#include "abi/apic.h"
#include "core/migration.h"
#include "core/part.h"
#include "device/local_apic.h"
#include "guests/x86/smp/luggage.h"
#include "guests/x86/x86.h"

/* Flushes that a core's log holds. A vCPU that is further behind forgets all of its shadow. */
#define FLUSH_LOG 64u
/* Classes of page directories, of which a core notes when it has last flushed one. */
#define FLUSH_CLASSES 64u
/* Epochs of a seat for which it is known what its spaces have followed. */
#define EPOCHS 8u
/* A vCPU rests for 1/IPI_RATE ms when it has taken many interrupts in as long (ipi.c). */
#define IPI_RATE 20u

/* Bits of x86->due beside those of the mainboard (guests/x86/board.h). */
enum {
	SMP_DUE_ARRIVED = 0x08, /* it has moved to this core, and its shadow is not loaded */
	SMP_DUE_PARKED = 0x10, /* it has halted with interrupts disabled */
	SMP_DUE_ASKS = 0x20,   /* it waits for an answer about a port */
	SMP_DUE_TIMER = 0x40,  /* the timer of its local APIC has expired */
	SMP_DUE_PORT = 0x80    /* it is the first, and a sibling asks for a port */
};

struct flush {
	u32 directory, start, end; /* as in GANDALF_HYPERCALL_FLUSH */
};

/* What a core says of a vCPU (core/part.h). Of one that is its own: what that says to its siblings;
 * of one that is another core's: nothing but ipi_raised, and what it has taken along from here. */
struct smp_page {
	union {
		/* In the page of number 0: how many flushes the core's vCPUs have ever made, and
		 * the last ones. */
		struct {
			u32 flush_count;
			struct flush flushes[FLUSH_LOG];
			/* By classes of page directories: flush_count behind the last one. */
			u32 last[FLUSH_CLASSES];
			/* Where there are two levels: the EIPs behind each INT3 that a vCPU of this
			 * core has put into its kernel, and the life of the guest. */
			u32 returns_life, returns[RETURN_PLACES];
		};
		/* Of vCPUs that move, which number 0 does not. */
		struct luggage luggage;
	};
	/* What a sibling of the first vCPU asks it for: the port << 8 | whether it is an OUT << 7
	 * | the bytes, and the value of an OUT. The number counts requests, and says which of the
	 * two holds the last one: the other is free for the next. */
	u32 port_number;
	struct {
		u32 request, value;
	} ports[2];
	/* The first vCPU's answers, by who has asked: the number of the last one, and the value of
	 * an IN. */
	struct {
		u32 number, value;
	} answers[GANDALF_CPUS_MAXIMUM];
	/* Interrupts by vCPUs of this core for that one, a bit for each vector from
	 * GANDALF_IPI_FIRST on, which are on their way while ipi_seen, which is that vCPU's core's,
	 * differs for this core: as core/message.h does it for messages. */
	u32 ipi_raised, ipi_seen[GANDALF_CPUS_MAXIMUM];
};

_Static_assert(sizeof(struct smp_page) <= PART_OF_KIND, "core/part.h");

struct smp {
	struct local_apic apic;
	struct x86 *x86;
	u32 registers;          /* the frame in which the guest reads them */
	u32 id;                 /* of the local APIC: its place in the guest's description */
	struct deadline timer;  /* of the local APIC */
	u32 ipis_window;        /* the core's window of messages, by its end, and how many */
	u32 ipis_taken;         /* interrupts of others it has taken in that: see ipi.c */
	bool rests;             /* it takes none of other cores */
	struct deadline rest;   /* the end of that, once all that were taken are delivered */
	bool asks_in;           /* what it asks for is an IN, */
	u32 asks_size;          /* of so many bytes, */
	u32 asks_length;        /* by an instruction of so many bytes */
	bool serves_ports;      /* it does what others ask for at ports, */
	bool ports_asked;       /* who have asked for more meanwhile */
	u32 cpus, ids;          /* of its guest: the CPUs, and the vCPUs' IDs, as bits */
	u32 others;             /* those CPUs without this one */
	u32 message;            /* the bit of MESSAGE_IPI to it */
	volatile struct smp_page *own; /* what this core says of it (core/part.h) */
	volatile u8 *said;      /* what core 0 says of it: each next one is PART_DISTANCE behind */
	u32 followed[GANDALF_CPUS_MAXIMUM]; /* how many flushes of each core it has followed */
	struct kernel_flushes kernel; /* what it has flushed that no log has, */
	u64 system_call;        /* of one that is watched: the gate that it had before; or 0 */
	u32 kernel_followed;    /* how many of these this seat's shadow has followed, */
	bool stale;             /* and whether that must be made anew instead */
	/* A seat's spaces are right up to the flushes that it has followed if they are of this
	 * epoch; those of older ones, up to what had been followed when theirs ended. */
	u32 epoch, ended[EPOCHS][GANDALF_CPUS_MAXIMUM];
};

static inline volatile struct smp_page *smp_page_of(const struct gandalf_guest *guest, u32 number)
{
	return part_kind_of(part_core(guest, number), number);
}

/* What this core says of a vCPU that it has. */
static inline volatile struct smp_page *smp_own_page(const struct x86 *x86)
{
	return part_kind_of(core.index, x86->smp->id);
}

/* The page of a core that has the log of its vCPUs' flushes. */
static inline volatile struct smp_page *flush_log_of(u32 core_index)
{
	return part_kind_of(core_index, 0);
}

/* Whether it is of the guest's first vCPU, which has the mainboard. */
static inline bool smp_is_first(const struct smp *smp)
{
	return smp->id == 0;
}

/* interrupt.c: the local APIC. Interrupts are masked. */
void smp_apic_reset(struct x86 *x86);
bool smp_interrupt_waits(const struct x86 *x86);
unsigned smp_acknowledge(struct x86 *x86);
/* The vCPU ends or has left this core; or it has arrived on it, and takes what siblings have sent
 * meanwhile. */
void smp_apic_leave(struct x86 *x86);
void smp_apic_arrive(struct x86 *x86);
/* Notes whether an interrupt waits now. */
void smp_look(struct x86 *x86);
void smp_timer_settle(struct x86 *x86);
/* The vCPU stores to the page of its local APIC, with interrupts enabled. */
void smp_apic_store(struct x86 *x86, u32 offset, u32 value);

/* ipi.c: what siblings send each other. Interrupts are masked. ipis_prepare(): a vCPU of this core
 * is created, whose APIC has smp->id, on the CPUs smp->cpus. ipis_reset(): it is about to start,
 * and what has been sent to it is forgotten. ipis_leave(): it ends, or has left this core. */
void ipis_reset(struct smp *smp);
void ipis_prepare(struct smp *smp, const struct gandalf_guest *guest);
void ipis_leave(struct smp *smp);

/* remote_port.c: see several/siblings.h. */
void remote_port_ask(struct x86 *x86, u32 port, u32 size, const u32 *value, u32 length);
/* Ends the instruction that has asked. Returns false if there is no answer yet. */
MUST_CHECK bool remote_port_end(struct x86 *x86);
/* Serves what siblings have asked the first vCPU for. */
void remote_ports_serve(struct x86 *x86);

/* flush_log.c: see several/siblings.h. */
void flush_log_follow(struct x86 *x86);
void flush_log_add(struct x86 *x86, u32 directory, u32 start, u32 end);
/* From here on the vCPU follows what is flushed; its shadow is empty, or an epoch has ended. */
void flush_log_begin(struct x86 *x86);
/* Ends an epoch of the vCPU's seat: what was flushed by now, each space learns when it is loaded.
 * No space is loaded. */
void flush_log_skip(struct x86 *x86);
/* Brings a space of an older epoch into this one. It is emptied if it may have been flushed since
 * that ended. */
void flush_log_renew(const struct x86 *x86, struct space *space);
/* Notes that the vCPU flushes a page of the kernel's half, or KERNEL_FLUSH_ALL. */
void flush_log_kernel(struct x86 *x86, u32 linear);

/* returns.c: see several/siblings.h. */
volatile u32 *smp_returns(const struct x86 *x86);
bool smp_return_is_known(const struct x86 *x86, u32 eip);

/* --- Functions of migrate.c --- */
extern const struct seat_operations smp_seat;
/* Loads the shadow of a vCPU that has arrived, on its own stack. Interrupts are masked when it is
 * called and when it returns. */
void smp_settle_in(struct x86 *x86);

/* kernel_watch.c: see several/siblings.h. Interrupts are enabled. */
void kernel_watch_entered(struct x86 *x86);
void kernel_watch_left(struct x86 *x86);
/* A vCPU begins a life; or the gates of one that is watched were made anew. */
void kernel_watch_starts(struct x86 *x86);
void kernel_watch_gates(struct x86 *x86);
/* A vCPU has the gate of system calls again that it had before it was watched, with which it leaves
 * a core. */
void kernel_watch_forgets(struct vcpu *vcpu);

/* --- Functions of smp.c --- */
bool smp_due(struct x86 *x86, u8 due);
void smp_park(struct x86 *x86);
bool smp_hold(struct x86 *x86);
void smp_start(struct x86 *x86);
void smp_stop(struct x86 *x86);
/* Whose shadow is to give frames back when the pool of the core is empty: that of the sibling here
 * which has most spaces. */
struct x86 *smp_richest(struct x86 *x86);
/* Empties the current spaces of a vCPU's siblings here, if the pool is empty and no other space is
 * left: one process may use 3 MiB of it, on each of them. Returns false if they were empty. */
MUST_CHECK bool smp_siblings_give(const struct x86 *x86);
