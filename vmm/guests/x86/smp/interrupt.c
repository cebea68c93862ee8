/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a vCPU of Linux its local APIC: the timer, and the registers, which the guest reads in a
 * page of its own. What vCPUs send each other is in ipi.c.
 */
#include "core/hypercall.h"
#include "core/module.h"
#include "core/work.h"
#include "guests/x86/line.h"
#include "guests/x86/smp/masked_sections.h"
#include "guests/x86/smp/smp.h"
#include "masked_state.h"

/* The timer expires so often in a millisecond at most, as the virtual 8254 does. */
#define TIMER_RATE 20u

bool smp_interrupt_waits(const struct x86 *x86)
{
	const struct local_apic *apic = &x86->smp->apic;

	return local_apic_pending(apic) >= 0 ||
	       (smp_is_first(x86->smp) && local_apic_takes_external(apic) &&
		pic_pending(&x86->board->pic) >= 0);
}

/* The rest begins when all that was taken is delivered, however long that takes. */
static void rest_settle(struct smp *smp)
{
	if (smp->rests && !deadline_is_set(&smp->rest) && local_apic_pending(&smp->apic) < 0)
		deadline_set(&smp->rest, rdtsc() + time_tsc_khz / IPI_RATE);
}

void smp_look(struct x86 *x86)
{
	EXPECTS_MASKED();
	x86->interrupt_waits = smp_interrupt_waits(x86);
	vcpu_notify_if(x86->vcpu, x86->interrupt_waits);
	rest_settle(x86->smp);
}

/* Those of the local APIC come first, since they have the higher vectors. */
unsigned smp_acknowledge(struct x86 *x86)
{
	unsigned vector = local_apic_pending(&x86->smp->apic) >= 0
				  ? local_apic_acknowledge(&x86->smp->apic)
				  : (unsigned)pic_acknowledge(&x86->board->pic);

	x86->interrupt_waits = smp_interrupt_waits(x86);
	rest_settle(x86->smp);
	return vector;
}

static void timer_set(struct smp *smp)
{
	u64 due = local_apic_deadline(&smp->apic);
	u64 earliest = rdtsc() + time_tsc_khz / TIMER_RATE;

	deadline_set(&smp->timer, due < earliest ? earliest : due);
}

static u64 timer_expires(struct deadline *deadline)
{
	struct smp *smp = (struct smp *)((u8 *)deadline - offsetof(struct smp, timer));

	x86_becomes_due(smp->x86, SMP_DUE_TIMER);
	return TIME_NEVER;
}

void smp_timer_settle(struct x86 *x86)
{
	if (local_apic_expire(&x86->smp->apic, rdtsc()))
		vcpu_count(x86->vcpu, COUNTER_timer_expiries);
	chips_pause();
	timer_set(x86->smp);
	smp_look(x86);
}

void smp_apic_store(struct x86 *x86, u32 offset, u32 value)
{
	work_mask(apic_write);
	if (!local_apic_write(&x86->smp->apic, offset, value, rdtsc()))
		return;
	chips_pause();
	timer_set(x86->smp);
	smp_look(x86);
}

static u32 hypercall_apic_write(struct vcpu *vcpu)
{
	if (!x86_has_siblings(vcpu->x86))
		return (u32)GANDALF_ERROR_ARGUMENT;
	smp_apic_store(vcpu->x86, vcpu->frame->ebx, vcpu->frame->ecx);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_APIC_WRITE, HYPERCALL_OF_LINUX, hypercall_apic_write);

void smp_apic_reset(struct x86 *x86)
{
	struct smp *smp = x86->smp;

	deadline_init(&smp->timer, timer_expires, 0);
	local_apic_reset(&smp->apic, pool_pointer(smp->registers), smp->id, smp_is_first(smp));
	x86->interrupt_waits = false;
}

void smp_apic_leave(struct x86 *x86)
{
	deadline_set(&x86->smp->timer, TIME_NEVER);
}
