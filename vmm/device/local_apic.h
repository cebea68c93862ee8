/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual local APIC of a vCPU (SDM vol. 3, chapter 10) as a function of time. The guest reads
 * its registers in a page, which the functions here keep up to date, and writes them by
 * local_apic_write(). It sends nothing: interrupts between vCPUs are the caller's.
 */
#pragma once

#include "lib/types.h"

struct local_apic {
	u32 *page;         /* the registers as the guest reads them, 1,024 words */
	u32 request[8];    /* IRR and ISR: a bit for each vector */
	u32 service[8];
	u8 requested, served; /* a bit for each word of the two that is not 0 */
	s32 pending;       /* the vector that would be delivered now, or -1 */
	bool first;        /* it is that of the vCPU that boots */
	bool expired;      /* a one-shot count has reached 0 */
	bool lets_last_in; /* no register keeps the last 32 vectors out, and they need no end */
	u64 start;         /* the time stamp at which the timer's count began */
	u64 taken;         /* periods since then that have been reported */
};

/* Registers that keep what is stored to them. */
#define LOCAL_APIC_KEPT 15u

/* What an APIC is, without the page in which the guest reads it. */
struct local_apic_state {
	struct local_apic apic;
	u32 kept[LOCAL_APIC_KEPT];
};

/* As at power-on. id is that of the APIC; first: its vCPU boots, and takes the 8259s' interrupts
 * until the guest enables the APIC. */
void local_apic_reset(struct local_apic *apic, u32 *page, u32 id, bool first);
/* Note what the APIC of a vCPU is that leaves its page, and have another page show that. It is one
 * that local_apic_reset() has made for the same ID. */
void local_apic_save(const struct local_apic *apic, struct local_apic_state *state);
void local_apic_load(struct local_apic *apic, const struct local_apic_state *state);
/* Does a store to a register, by its offset in the page. Returns true if that may have changed what
 * is pending or when the timer expires. */
bool local_apic_write(struct local_apic *apic, u32 offset, u32 value, u64 now);

/* Requests an interrupt. Vectors below 16 are ignored. */
void local_apic_request(struct local_apic *apic, u32 vector);
/* Requests several of the last 32 vectors: bit n, the vector 224 + n. */
void local_apic_request_ipis(struct local_apic *apic, u32 vectors);
/* Returns the vector that would be delivered now, or -1. */
static inline int local_apic_pending(const struct local_apic *apic)
{
	return apic->pending;
}

/* Takes that vector, of which there must be one, into service, and returns it. */
u32 local_apic_acknowledge(struct local_apic *apic);
/* Whether one of the last 32 vectors would be delivered at once and leave no trace here: nothing is
 * requested or in service, no priority keeps it out, and interrupts end as they are delivered. */
static inline bool local_apic_is_open(const struct local_apic *apic)
{
	return (apic->requested | apic->served) == 0 && apic->lets_last_in;
}

/* Whether it lets the 8259s' interrupts through to the vCPU. */
bool local_apic_takes_external(const struct local_apic *apic);

/* Returns the time stamp at which the timer expires next, or TIME_NEVER. Its bus clock is the
 * time stamp counter. */
u64 local_apic_deadline(const struct local_apic *apic);
/* Requests the timer's interrupt if it has expired since the last call. Returns whether it has. */
bool local_apic_expire(struct local_apic *apic, u64 now);
