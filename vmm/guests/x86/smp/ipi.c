/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupts that vCPUs of a Linux send each other: a hypercall, a message to the core of the
 * other one, and what that does with it. Mostly the other one runs, has its interrupts enabled and
 * nothing else waits for it. Then it gets the interrupt in the entry by which its core learns of
 * it, without the queue of messages, the virtual APIC and the scheduler. It has the bounds of any
 * other message all the same: the core's window of messages, and the rest of a vCPU.
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/module.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/x86/inject.h"
#include "guests/x86/linux.h"
#include "guests/x86/smp/masked_sections.h"
#include "guests/x86/smp/smp.h"
#include "lib/owner.h"
#include "masked_state.h"

/* The vectors by which vCPUs interrupt each other: those of the last word of IRR. */
#define IPI_VECTORS 32u
_Static_assert(GANDALF_IPI_FIRST + IPI_VECTORS == 256, "abi/apic.h");
/* A vCPU that has taken so many interrupts of other cores' vCPUs in 1/IPI_RATE ms rests: it gets
 * those that it has taken, goes on for as long, and only then takes, at once, what has come.
 * Without that, siblings that interrupt it faster than it can serve them would have it do nothing
 * else. */
#define IPIS_AT_ONCE 8u

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

/* Changes the bits of vectors for a vCPU that is on another core, or was. Returns false if one of
 * them is on its way already, which stands for all. */
MUST_CHECK static INLINE bool ipi_raise(u32 cpu, u32 number, u32 vectors)
{
	volatile struct smp_page *own = part_kind_of(core.index, number);
	volatile struct smp_page *theirs = part_kind_of(cpu, number);
	u32 raised = own->ipi_raised;

	if ((raised ^ theirs->ipi_seen[core.index]) & vectors)
		return false;
	own->ipi_raised = raised ^ vectors;
	return true;
}

/* For a guest whose vCPUs move. */
APART static void traveller_interrupt(const struct gandalf_guest *guest, u32 number, u32 vectors)
{
	u32 cpu;

	if (!ipi_raise(part_core(guest, number), number, vectors))
		return;
	order_stores();
	cpu = part_core(guest, number);
	if (cpu != core.index) /* else it has left, and finds this where it arrives */
		message_send_ipi(cpu, number);
}

/* The interrupt is on its way already, or its bit is changed and a message tells of it. */
static INLINE void sibling_interrupt_far(const struct gandalf_guest *guest, u32 number, u32 vectors)
{
	u32 cpu = guest->vcpu_cpus[number];

	if (guest_migrates(guest))
		traveller_interrupt(guest, number, vectors);
	else if (ipi_raise(cpu, number, vectors))
		message_send_ipi(cpu, number);
}

static HOT u32 hypercall_ipi(struct vcpu *vcpu)
{
	const struct gandalf_guest *guest = vcpu->vm->guest;
	u32 ids = vcpu->frame->ebx & ((1u << guest->vcpu_count) - 1);
	u32 bit = vcpu->frame->ecx - GANDALF_IPI_FIRST;

	if (!x86_has_siblings(vcpu->x86) || bit >= IPI_VECTORS)
		return (u32)GANDALF_ERROR_ARGUMENT;
	work_end(ipi);
	/* Comes first: who has moved and sees the interrupt behind it sees the guest's stores. */
	order_stores();
	for (; ids != 0; ids &= ids - 1) {
		u32 id = (u32)__builtin_ctz(ids);

		if (part_vms[id] != NULL)
			sibling_interrupt(part_vms[id], 1u << bit);
		else
			sibling_interrupt_far(guest, id, 1u << bit);
	}
	/* Nobody waits for this. */
	trace_fast(vcpu->id, TRACE_hypercall, GANDALF_HYPERCALL_IPI, vcpu->frame->ebx);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_IPI, HYPERCALL_OF_LINUX, hypercall_ipi);

/* Returns the vectors that a core has sent to a vCPU of this one, and makes their bits in the page
 * that this core has for the vCPU equal to the sender's. */
static INLINE u32 ipis_equal(volatile struct smp_page *own, u32 from, u32 number)
{
	volatile struct smp_page *senders = part_kind_of(from, number);
	u32 raised = senders->ipi_raised, known = own->ipi_seen[from];

	own->ipi_seen[from] = raised;
	return raised ^ known;
}

/* Returns those vectors, which have been seen then. What is requested behind that is taken by a
 * vCPU that sees all that was written before the interrupt was sent, also by a sender who has found
 * its bit still on its way. */
static INLINE u32 ipis_see(u32 from, u32 number)
{
	u32 vectors = ipis_equal(part_kind_of(core.index, number), from, number);

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

/* Begins to count anew if the time has passed for which a vCPU's interrupts are counted. */
static INLINE void ipis_time(struct smp *smp)
{
	u64 now = rdtsc();

	if (now < smp->ipis_end)
		return;
	smp->ipis_end = now + time_tsc_khz / IPI_RATE;
	smp->ipis_taken = 0;
}

/* Notes that a vCPU takes vectors, and whether it rests behind that: so nobody counts on. */
static INLINE void ipis_count(struct smp *smp, u32 vectors)
{
	ipis_time(smp);
	for (; vectors != 0 && smp->ipis_taken < IPIS_AT_ONCE; vectors &= vectors - 1)
		smp->ipis_taken++;
	smp->rests = smp->ipis_taken >= IPIS_AT_ONCE;
}

/* The same for one, where the vCPU does not rest. */
static INLINE void ipis_count_one(struct smp *smp)
{
	ipis_time(smp);
	smp->rests = ++smp->ipis_taken >= IPIS_AT_ONCE;
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

/*
 * The entry by VECTOR_APIC_IPI
 */

/* Returns whether the guest's vCPU that runs may take a message at once: nothing else waits for it,
 * and no sibling of this core has its turn here, whose messages may have come with the same
 * interrupt. */
static INLINE bool takes_at_once(const struct vcpu *vcpu)
{
	return !vcpu->vm->kind->real_time && x86_has_siblings(vcpu->x86) && !vcpu->shares &&
	       !vcpu_is_notified(vcpu) && vcpu->x86->unusual == 0 && !vcpu->x86->smp->rests &&
	       takes_interrupts(vcpu->vm);
}

/* Takes what siblings have sent to the vCPU that runs, which may have been seen already. Returns
 * false if that is nothing, or if this core's window has had its share of messages. */
MUST_CHECK static INLINE bool ipis_take(struct smp *smp, u32 *vectors)
{
	u32 from = message_take_ipis(smp->cpus, smp->id);

	volatile struct smp_page *own = part_kind_of(core.index, smp->id);

	*vectors = 0;
	if (from == 0)
		return false;
	for (; from != 0; from &= from - 1)
		*vectors |= ipis_equal(own, (u32)__builtin_ctz(from), smp->id);
	order_stores();
	return true;
}

/* Returns whether the guest takes an interrupt now. */
static INLINE bool ipi_is_open(const struct x86 *x86)
{
	return !x86->smp->rests && linux_interrupt_flag(x86) != 0 &&
	       local_apic_is_open(&x86->smp->apic);
}

/* Has the guest go on in its handler. It is the VMM's work for it, like any other injection, but
 * has no event in the trace ring: that of the hypercall tells of it. */
static INLINE void ipi_deliver(struct vcpu *vcpu, u32 vector)
{
	vcpu_count(vcpu, COUNTER_quick_ipis);
	work_begin(vcpu);
	inject_last(vcpu->x86, vector, INJECT_NO_ERROR);
}

/* Has the vCPU that runs take vectors: one at once if that is possible. */
static INLINE void ipis_arrive(struct vcpu *vcpu, u32 vectors)
{
	if (vectors == 0 || (vectors & (vectors - 1)) != 0) {
		ipis_count(vcpu->x86->smp, vectors);
		sibling_interrupt(vcpu->vm, vectors);
		return;
	}
	ipis_count_one(vcpu->x86->smp);
	if (ipi_is_open(vcpu->x86))
		ipi_deliver(vcpu, GANDALF_IPI_FIRST + (u32)__builtin_ctz(vectors));
	else
		sibling_interrupt(vcpu->vm, vectors);
}

static HOT void ipi_interrupt(struct frame *frame)
{
	struct vcpu *vcpu = core.current;
	u32 vectors;

	EXPECTS_MASKED();
	if (!origin_is_guest(vcpu, frame) || !takes_at_once(vcpu) ||
	    !ipis_take(vcpu->x86->smp, &vectors)) {
		trap_interrupt(frame);
		return;
	}
	vcpu_count(vcpu, COUNTER_entries);
	vcpu_count(vcpu, COUNTER_interrupts);
	ipis_arrive(vcpu, vectors);
}
MESSAGES_ENTER(VECTOR_APIC_IPI, ipi_interrupt);

/* What has been sent to a vCPU that ends, or is about to start, is forgotten. */
void ipis_forget(struct smp *smp)
{
	smp->ipis_taken = 0;
	smp->rests = false;
	deadline_set(&smp->rest, TIME_NEVER);
	(void)ipis_see_all(smp->id);
}

void ipis_reset(struct smp *smp)
{
	deadline_init(&smp->rest, rest_end, 0);
	ipis_forget(smp);
}

void ipis_leave(struct smp *smp)
{
	deadline_set(&smp->rest, TIME_NEVER);
	smp->rests = false;
}

void smp_apic_arrive(struct x86 *x86)
{
	struct smp *smp = x86->smp;
	u32 vectors = 0;

	for (u32 rest = smp->cpus; rest != 0; rest &= rest - 1)
		vectors |= ipis_see((u32)__builtin_ctz(rest), smp->id);
	sibling_interrupt(x86->vm, vectors);
}
