/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a vCPU of Linux its local APIC: the timer, the registers, which the guest reads in a page
 * of its own, and the interrupts that vCPUs send each other.
 */
#include "core/hypercall.h"
#include "core/module.h"
#include "core/work.h"
#include "guests/x86/line.h"
#include "guests/x86/smp/smp.h"
#include "masked_state.h"

/* The timer expires so often in a millisecond at most, as the virtual 8254 does. */
#define TIMER_RATE 20u
/* The vectors by which vCPUs interrupt each other: those of the last word of IRR. */
#define IPI_VECTORS 32u
_Static_assert(GANDALF_IPI_FIRST + IPI_VECTORS == 256, "abi/apic.h");
/* A vCPU that has taken so many interrupts of other cores' vCPUs in 1/IPI_RATE ms rests: it gets
 * those that it has taken, goes on for as long, and only then takes, at once, what has come.
 * Without that, siblings that interrupt it faster than it can serve them would have it do nothing
 * else. */
#define IPIS_AT_ONCE 8u
#define IPI_RATE 20u

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
	work_end(apic_write);
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

/* A vCPU that does not run, or is about to start, takes none. */
static bool takes_interrupts(const struct vm *vm)
{
	return vm->state == GANDALF_STATE_RUNNING || vm->state == GANDALF_STATE_PAUSED;
}

/* A sibling of this core needs no message. It goes on at once if its turn comes first. */
static void sibling_interrupt(struct vm *vm, u32 vectors)
{
	if (!takes_interrupts(vm))
		return;
	local_apic_request_ipis(&vm->vcpus->x86->smp->apic, vectors);
	smp_look(vm->vcpus->x86);
	vcpu_notify(core.current);
}

/* The interrupt is on its way already, or its bit is changed and a message tells of it. */
static void sibling_interrupt_far(const struct gandalf_guest *guest, u32 number, u32 vectors)
{
	u32 cpu;
	volatile struct smp_page *own = part_kind_of(core.index, number);

	order_stores();
	if ((own->ipi_raised ^ smp_page_of(guest, number)->ipi_seen[core.index]) & vectors)
		return;
	own->ipi_raised ^= vectors;
	order_stores();
	cpu = part_core(guest, number);
	if (cpu != core.index) /* else it has left, and finds this where it arrives */
		message_send(cpu, MESSAGE_IPI + number);
}

static u32 hypercall_ipi(struct vcpu *vcpu)
{
	const struct gandalf_guest *guest = vcpu->vm->guest;
	u32 ids = vcpu->frame->ebx, vector = vcpu->frame->ecx;
	struct x86 *x86 = vcpu->x86;

	if (!x86_has_siblings(x86) || vector - GANDALF_IPI_FIRST >= IPI_VECTORS)
		return (u32)GANDALF_ERROR_ARGUMENT;
	work_end(ipi);
	for (u32 id = 0; id < guest->vcpu_count; id++)
		if ((ids >> id & 1) == 0)
			continue;
		else if (part_vms[id] != NULL)
			sibling_interrupt(part_vms[id], 1u << (vector - GANDALF_IPI_FIRST));
		else
			sibling_interrupt_far(guest, id, 1u << (vector - GANDALF_IPI_FIRST));
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_IPI, HYPERCALL_OF_LINUX, hypercall_ipi);

/* Returns the vectors that a core has sent to a vCPU of this one, which have been seen then. What
 * is requested behind that is taken by a vCPU that sees all that was written before the interrupt
 * was sent, also by a sender who has found its bit still on its way. */
static u32 ipis_see(u32 from, u32 number)
{
	volatile struct smp_page *own = part_kind_of(core.index, number);
	volatile struct smp_page *senders = part_kind_of(from, number);
	u32 vectors = senders->ipi_raised ^ own->ipi_seen[from];

	own->ipi_seen[from] ^= vectors;
	order_stores();
	return vectors;
}

static u32 ipis_see_all(u32 number)
{
	u32 vectors = 0;

	for (u32 from = 0; from < system_table.cpus; from++)
		if (from != core.index)
			vectors |= ipis_see(from, number);
	return vectors;
}

/* Notes that a vCPU takes vectors, and whether it rests behind that. */
static void ipis_count(struct smp *smp, u32 vectors)
{
	u64 now = rdtsc();

	if (now >= smp->ipis_end) {
		smp->ipis_end = now + time_tsc_khz / IPI_RATE;
		smp->ipis_taken = 0;
	}
	for (; vectors != 0; vectors &= vectors - 1)
		smp->ipis_taken++;
	smp->rests = smp->ipis_taken >= IPIS_AT_ONCE;
}

static u64 rest_end(struct deadline *deadline)
{
	struct smp *smp = (struct smp *)((u8 *)deadline - offsetof(struct smp, rest));
	u32 vectors = ipis_see_all(smp->id);

	smp->rests = false;
	sibling_interrupt(smp->x86->vm, vectors);
	ipis_count(smp, vectors);
	return smp->rests && local_apic_pending(&smp->apic) < 0
		       ? rdtsc() + time_tsc_khz / IPI_RATE
		       : TIME_NEVER;
}

static void ipi_serve(u32 from, u32 number)
{
	struct vm *vm = part_vms[number];
	u32 vectors;

	if (vm == NULL || vm->vcpus->x86->smp->rests)
		return;
	vectors = ipis_see(from, number);
	if (!takes_interrupts(vm))
		return;
	ipis_count(vm->vcpus->x86->smp, vectors);
	sibling_interrupt(vm, vectors);
}
MESSAGES_SERVED(MESSAGE_IPI, GANDALF_CPUS_MAXIMUM, ipi_serve);

/* What has been sent to a vCPU that ends, or is about to start, is forgotten. */
static void ipis_forget(struct smp *smp)
{
	smp->ipis_taken = 0;
	smp->rests = false;
	deadline_set(&smp->rest, TIME_NEVER);
	(void)ipis_see_all(smp->id);
}

void smp_apic_reset(struct x86 *x86)
{
	struct smp *smp = x86->smp;

	deadline_init(&smp->timer, timer_expires, 0);
	deadline_init(&smp->rest, rest_end, 0);
	local_apic_reset(&smp->apic, pool_pointer(smp->registers), smp->id, smp_is_first(smp));
	x86->interrupt_waits = false;
	ipis_forget(smp);
}

void smp_apic_stop(struct x86 *x86)
{
	deadline_set(&x86->smp->timer, TIME_NEVER);
	ipis_forget(x86->smp);
}

void smp_apic_leave(struct x86 *x86)
{
	deadline_set(&x86->smp->timer, TIME_NEVER);
	deadline_set(&x86->smp->rest, TIME_NEVER);
	x86->smp->rests = false;
}

void smp_apic_arrive(struct x86 *x86)
{
	struct smp *smp = x86->smp;

	for (u32 rest = smp->cpus; rest != 0; rest &= rest - 1)
		sibling_interrupt(x86->vm, ipis_see((u32)__builtin_ctz(rest), smp->id));
}
