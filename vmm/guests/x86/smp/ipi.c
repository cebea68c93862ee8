/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries the interrupts that vCPUs of a Linux send each other: a hypercall, a message to the core
 * of the other one, and what that does with it. Mostly the other one runs, has its interrupts
 * enabled and nothing else waits for it. Then it gets the interrupt in the entry by which its core
 * learns of it, without the queue of messages, the virtual APIC and the scheduler. It has the
 * bounds of any other message all the same: the core's window of messages, and the rest of a vCPU.
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/message_quick.h"
#include "core/module.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/x86/inject_frame.h"
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
APART static void sibling_interrupt(struct vm *vm, u32 vectors)
{
	if (!takes_interrupts(vm))
		return;
	local_apic_request_ipis(&vm->vcpus->x86->smp->apic, vectors);
	smp_look(vm->vcpus->x86);
	vcpu_notify(core.current);
}

/* By vCPU of the guest, how this core interrupts it where it stays on another one: the words with
 * what is raised for it and what of that its core has seen, vectors and then messages; the bit of
 * the message, and that of the core. */
OF_CORE static struct road {
	volatile u32 *raised, *message_raised;
	const volatile u32 *seen, *message_seen;
	u32 message, core;
} roads[GANDALF_CPUS_MAXIMUM];

/* The road to a vCPU that is on a core. */
static struct road road_to(u32 cpu, u32 number)
{
	volatile struct smp_page *own = part_kind_of(core.index, number);
	volatile struct smp_page *theirs = part_kind_of(cpu, number);

	return (struct road){
		.raised = &own->ipi_raised, .seen = &theirs->ipi_seen[core.index],
		.message_raised = &outbox_own()->raised[cpu][MESSAGE_IPI / 32],
		.message_seen = &outbox_of(cpu)->seen[core.index][MESSAGE_IPI / 32],
		.message = MESSAGE_IPI_BIT(number), .core = 1u << cpu,
	};
}

void ipis_prepare(struct smp *smp, const struct gandalf_guest *guest)
{
	smp->ids = (1u << guest->vcpu_count) - 1;
	smp->others = smp->cpus & ~(1u << core.index);
	smp->message = MESSAGE_IPI_BIT(smp->id);
	smp->own = part_kind_of(core.index, smp->id);
	smp->said = part_kind_of(0, smp->id);
	for (u32 number = 0; number < guest->vcpu_count; number++)
		roads[number] = road_to(guest->vcpu_cpus[number], number);
}

/* The interrupt is on its way already, or its bit is changed and a message is to tell of it.
 * Returns the core, as a bit, that is to be interrupted for that. */
static INLINE u32 road_interrupt(const struct road *road, u32 vectors)
{
	if (!bits_raise(road->raised, road->seen, vectors) ||
	    !message_raise_bit(road->message_raised, road->message_seen, road->message))
		return 0;
	return road->core;
}

/* The same for a guest whose vCPUs move: one may leave while this is done. */
static u32 traveller_interrupt(const struct gandalf_guest *guest, u32 number, u32 vectors)
{
	volatile struct smp_page *own = part_kind_of(core.index, number), *theirs;
	u32 cpu = part_core(guest, number);

	theirs = part_kind_of(cpu, number);
	if (!bits_raise(&own->ipi_raised, &theirs->ipi_seen[core.index], vectors))
		return 0;
	order_stores();
	cpu = part_core(guest, number);
	if (cpu == core.index) /* it has left, and finds this where it arrives */
		return 0;
	return message_raise(cpu, MESSAGE_IPI / 32, MESSAGE_IPI_BIT(number)) ? 1u << cpu : 0;
}

/* To look where each is takes long for many: interrupts are let in behind each. */
APART static void travellers_interrupt(const struct gandalf_guest *guest, u32 ids, u32 vectors)
{
	for (; ids != 0; ids &= ids - 1) {
		u32 id = (u32)__builtin_ctz(ids);

		if (part_vms[id] != NULL)
			sibling_interrupt(part_vms[id], vectors);
		else
			message_tell_ipis(traveller_interrupt(guest, id, vectors));
		work_admit(ipi);
	}
}

/* All cores that are to take the interrupt are interrupted at once: the last of them is what the
 * sender mostly waits for. */
static INLINE void siblings_interrupt(u32 ids, u32 vectors)
{
	u32 cores = 0;

	for (; ids != 0; ids &= ids - 1) {
		u32 id = (u32)__builtin_ctz(ids);

		if (part_vms[id] != NULL)
			sibling_interrupt(part_vms[id], vectors);
		else
			cores |= road_interrupt(&roads[id], vectors);
	}
	message_tell_ipis(cores);
}

static HOT u32 hypercall_ipi(struct vcpu *vcpu)
{
	const struct gandalf_guest *guest = vcpu->vm->guest;
	const struct frame *frame = vcpu->frame;
	u32 bit = frame->ecx - GANDALF_IPI_FIRST, ids;

	if (!x86_has_siblings(vcpu->x86) || bit >= IPI_VECTORS)
		return (u32)GANDALF_ERROR_ARGUMENT;
	work_mask(ipi);
	/* Comes first: who has moved and sees the interrupt behind it sees the guest's stores. */
	order_stores();
	ids = frame->ebx & vcpu->x86->smp->ids;
	if (guest_migrates(guest))
		travellers_interrupt(guest, ids, 1u << bit);
	else
		siblings_interrupt(ids, 1u << bit);
	/* Nobody waits for this. */
	trace(TRACE_hypercall, GANDALF_HYPERCALL_IPI, frame->ebx);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_IPI, HYPERCALL_OF_LINUX, hypercall_ipi);

/* Returns the vectors that a core has sent to a vCPU of this one, and makes their bits in the page
 * that this core has for the vCPU equal to the sender's. They have been seen behind order_stores():
 * what is requested from then on is taken by a vCPU that sees all that was written before the
 * interrupt was sent, also by a sender who has found its bit still on its way. */
static INLINE u32 ipis_equal(const struct smp *smp, u32 from)
{
	volatile struct smp_page *senders = (volatile void *)(smp->said + from * PART_DISTANCE);
	u32 raised = senders->ipi_raised, known = smp->own->ipi_seen[from];

	smp->own->ipi_seen[from] = raised;
	return raised ^ known;
}

static INLINE u32 ipis_see(const struct smp *smp, u32 from)
{
	u32 vectors = ipis_equal(smp, from);

	order_stores();
	return vectors;
}

static u32 ipis_see_all(const struct smp *smp, u32 cores)
{
	u32 vectors = 0;

	for (; cores != 0; cores &= cores - 1)
		vectors |= ipis_equal(smp, (u32)__builtin_ctz(cores));
	order_stores();
	return vectors;
}

/* Begins to count anew in another window of this core's messages, of which each interrupt is one.
 * The lower half of its end tells it from the one before. */
static INLINE void ipis_time(struct smp *smp)
{
	if (smp->ipis_window == (u32)message_window.ends)
		return;
	smp->ipis_window = (u32)message_window.ends;
	smp->ipis_taken = 0;
}

/* Notes that a vCPU takes vectors, and whether it rests behind that: so nobody counts on. */
APART static void ipis_count(struct smp *smp, u32 vectors)
{
	ipis_time(smp);
	for (; vectors != 0 && smp->ipis_taken < IPIS_AT_ONCE; vectors &= vectors - 1)
		smp->ipis_taken++;
	smp->rests = smp->ipis_taken >= IPIS_AT_ONCE;
}

static u64 rest_end(struct deadline *deadline)
{
	struct smp *smp = (struct smp *)((u8 *)deadline - offsetof(struct smp, rest));
	u32 vectors = ipis_see_all(smp, smp->others);

	smp->rests = false;
	message_window_renew();
	sibling_interrupt(smp->x86->vm, vectors);
	ipis_count(smp, vectors);
	return smp->rests && local_apic_pending(&smp->apic) < 0
		       ? rdtsc() + time_tsc_khz / IPI_RATE
		       : TIME_NEVER;
}

static void ipi_serve(u32 from, u32 number)
{
	struct vm *vm = part_vms[number];
	struct smp *smp;
	u32 vectors;

	if (vm == NULL || vm->vcpus->x86->smp->rests)
		return;
	smp = vm->vcpus->x86->smp;
	vectors = ipis_see(smp, from);
	if (!takes_interrupts(vm))
		return;
	ipis_count(smp, vectors);
	sibling_interrupt(vm, vectors);
}
MESSAGES_SERVED(MESSAGE_IPI, GANDALF_CPUS_MAXIMUM, ipi_serve);

/*
 * The entry by VECTOR_APIC_IPI
 */

/* Returns whether the guest's vCPU that runs may take a message at once: nothing else waits for it,
 * and no sibling of this core has its turn here, whose messages may have come with the same
 * interrupt. All guests but RTOSes have priority 0. */
static INLINE bool takes_at_once(const struct vcpu *vcpu)
{
	const struct x86 *x86 = vcpu->x86;

	return vcpu->priority == 0 && x86_has_siblings(x86) && !vcpu->shares &&
	       !vcpu_is_notified(vcpu) && x86->unusual == 0 && !x86->smp->rests &&
	       vcpu->vm->state == GANDALF_STATE_RUNNING;
}

/* Takes what siblings have sent to the vCPU that runs, which may have been seen already. Returns
 * false if that is nothing, or if this core's window has had its share of messages. */
MUST_CHECK static INLINE bool ipis_take(const struct smp *smp, u32 *vectors)
{
	u32 left = 0;
	bool any = false;

	*vectors = 0;
	if (!message_window_has_room(MESSAGES_AT_ONCE))
		return false;
	for (u32 cores = smp->others; cores != 0; cores &= cores - 1) {
		u32 from = (u32)__builtin_ctz(cores);

		if (!message_take_from(from, MESSAGE_IPI / 32, smp->message, MESSAGE_IPI_BITS,
				       MESSAGES_AT_ONCE, &left))
			continue;
		*vectors |= ipis_equal(smp, from);
		any = true;
	}
	order_stores();
	if (any)
		messages_are_taken(left, MESSAGES_AT_ONCE);
	return any;
}

/* Counts one interrupt that a vCPU takes which does not rest, unless it is the last one before a
 * rest. */
MUST_CHECK static INLINE bool ipi_is_counted(struct smp *smp)
{
	ipis_time(smp);
	if (smp->ipis_taken + 1 >= IPIS_AT_ONCE)
		return false;
	smp->ipis_taken++;
	return true;
}

/* Returns whether the guest takes an interrupt now. A process has its interrupts enabled. */
static INLINE bool ipi_is_open(const struct x86 *x86, bool process)
{
	return (process || linux_interrupt_flag(x86) != 0) && local_apic_is_open(&x86->smp->apic);
}

/* Has the guest go on in its handler. It is the VMM's work for it, like any other injection, but
 * has no event in the trace ring: that of the hypercall tells of it. */
static INLINE void ipi_deliver(struct vcpu *vcpu, u32 vector, bool process)
{
	vcpu_count(vcpu, COUNTER_quick_ipis);
	work_unmask(vcpu);
	if (!process)
		inject_last(vcpu->x86, vector, INJECT_NO_ERROR);
	else if (inject_as(vcpu->x86, vector, INJECT_NO_ERROR, true, EFLAGS_IF))
		vcpu_count(vcpu, COUNTER_deliveries);
}

/* Has the vCPU that runs take vectors: one at once if that is possible. Mostly a process is
 * interrupted. */
static INLINE void ipis_arrive(struct vcpu *vcpu, u32 vectors, bool process)
{
	struct x86 *x86 = vcpu->x86;

	if (vectors != 0 && (vectors & (vectors - 1)) == 0 && ipi_is_open(x86, process) &&
	    ipi_is_counted(x86->smp)) {
		ipi_deliver(vcpu, GANDALF_IPI_FIRST + (u32)__builtin_ctz(vectors), process);
		return;
	}
	ipis_count(x86->smp, vectors);
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
	ipis_arrive(vcpu, vectors, views_in_process(vcpu, frame));
}
MESSAGES_ENTER(VECTOR_APIC_IPI, ipi_interrupt);

void ipis_reset(struct smp *smp)
{
	deadline_init(&smp->rest, rest_end, 0);
	smp->ipis_taken = 0;
	smp->rests = false;
	(void)ipis_see_all(smp, smp->others);
}

void ipis_leave(struct smp *smp)
{
	deadline_set(&smp->rest, TIME_NEVER);
	smp->rests = false;
}

void smp_apic_arrive(struct x86 *x86)
{
	u32 vectors = ipis_see_all(x86->smp, x86->smp->cpus);

	if (vectors != 0)
		sibling_interrupt(x86->vm, vectors);
	else
		smp_look(x86);
}
