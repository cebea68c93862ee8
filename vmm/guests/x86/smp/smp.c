/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the kind of a Linux with several vCPUs, and leads the life of one of these: it is started
 * by another one, halts for ever when Linux takes its CPU away, and ends with the guest.
 */
#include "guests/x86/smp/smp.h"

#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/pool.h"
#include "core/preemption.h"
#include "core/schedule.h"
#include "core/work.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/linux.h"
#include "guest_cpus.h"
#include "guests/x86/smp/masked_sections.h"
#include "lib/owner.h"
#include "masked_state.h"

/* Bits of IA32_APIC_BASE (SDM vol. 3, section 10.4.4). */
enum { APIC_BASE_FIRST = 0x100, APIC_BASE_ENABLED = 0x800 };

/* Of the vCPUs of this core's Linux, by their numbers. */
OF_CORE static struct smp smps[GANDALF_CPUS_MAXIMUM];

bool smp_due(struct x86 *x86, u8 due)
{
	if (due == SMP_DUE_TIMER)
		smp_timer_settle(x86);
	else if (due == SMP_DUE_PORT)
		remote_ports_serve(x86);
	return due >= SMP_DUE_PARKED;
}

/* The guest may have switched itself off by that. If not, smp_hold() halts the vCPU before it goes
 * on, behind what siblings have asked for meanwhile. */
void smp_park(struct x86 *x86)
{
	EXPECTS_MASKED();
	x86->due |= SMP_DUE_PARKED;
	part_parks(x86->vm);
	vcpu_notify(x86->vcpu);
}

/* The first vCPU serves the ports of others also when it has halted for ever. More may be asked for
 * in the pauses, whose notice is forgotten when the vCPU halts. */
static void parked_serve(struct x86 *x86)
{
	u8 due;

	x86->slept = false;
	do {
		due = x86->due;
		x86->due = 0;
		if (due & SMP_DUE_PORT)
			remote_ports_serve(x86);
	} while (x86->due & SMP_DUE_PORT);
	x86->due |= SMP_DUE_PARKED;
}

bool smp_hold(struct x86 *x86)
{
	if (x86->due & SMP_DUE_ARRIVED)
		smp_settle_in(x86);
	if ((x86->due & (SMP_DUE_ASKS | SMP_DUE_PARKED)) == 0)
		return x86->vcpu->state == VCPU_OFF;
	if ((x86->due & SMP_DUE_ASKS) && remote_port_end(x86))
		return false;
	if (x86->due & SMP_DUE_PARKED)
		parked_serve(x86);
	if (x86->vcpu->state == VCPU_RUNNING)
		vcpu_halt(x86->vcpu);
	return true;
}

/* What siblings asked for in the last life is done with. */
static void requests_forget(const struct gandalf_guest *guest)
{
	volatile struct smp_page *first = smp_page_of(guest, 0);

	for (u32 i = 1; i < guest->vcpu_count; i++)
		first->answers[i].number = smp_page_of(guest, i)->port_number;
}

void smp_start(struct x86 *x86)
{
	schedule_admit();
	x86->due = 0;
	x86->slept = false;
	kernel_watch_starts(x86);
	steal_begins(x86->vcpu);
	smp_apic_reset(x86);
	schedule_admit();
	x86->smp->serves_ports = false;
	ipis_reset(x86->smp);
	schedule_admit();
	flush_log_kernel(x86, KERNEL_FLUSH_ALL);
	x86->smp->stale = true;
	flush_log_begin(x86);
	schedule_admit();
	if (!vm_is_part(x86->vm))
		requests_forget(x86->vm->guest);
}

void smp_stop(struct x86 *x86)
{
	x86->due = 0;
	x86->slept = false;
	smp_apic_leave(x86);
	ipis_leave(x86->smp);
	whole_ends(x86->vm);
}

/* Returns how many could be evicted, plus 1. The current one could not, which a seat that its vCPU
 * has left does not have. */
static u32 spaces_count(const struct shadow *shadow)
{
	u32 count = shadow->current == NULL;

	for (u32 i = 0; i < shadow->space_limit; i++)
		count += space_at(shadow, i)->directory != 0;
	return count;
}

struct x86 *smp_richest(struct x86 *x86)
{
	struct x86 *richest = x86;

	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++)
		if (smps[i].x86 != NULL && spaces_count(&smps[i].x86->shadow) >
						   spaces_count(&richest->shadow))
			richest = smps[i].x86;
	return richest;
}

bool smp_siblings_give(const struct x86 *x86)
{
	bool any = false;

	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		struct x86 *sibling = smps[i].x86;
		struct space *space;

		if (sibling == NULL || sibling == x86)
			continue;
		space = sibling->shadow.current; /* read once: it may leave this core meanwhile */
		if (space == NULL || space_is_empty(space))
			continue;
		vcpu_count(sibling->vcpu, COUNTER_space_evictions);
		space_drop(space, NULL);
		any = true;
	}
	return any;
}

static u32 hypercall_start_cpu(struct vcpu *vcpu)
{
	const struct gandalf_guest *guest = vcpu->vm->guest;
	u32 id = vcpu->frame->ebx, entry = vcpu->frame->ecx;

	if (!x86_has_siblings(vcpu->x86) || id == 0 || id >= guest->vcpu_count ||
	    entry >= guest->memory_size || id == vcpu->x86->smp->id)
		return (u32)GANDALF_ERROR_ARGUMENT;
	work_mask(start_cpu);
	part_start(vcpu->vm, id, entry);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_START_CPU, HYPERCALL_OF_LINUX, hypercall_start_cpu);

MUST_CHECK static bool smp_create(struct vm *vm)
{
	struct smp *smp = &smps[vm->number];
	struct x86 *x86;

	if (!shared_create(vm))
		return false;
	x86 = vm->vcpus->x86;
	smp->id = vm->number;
	smp->x86 = x86;
	smp->registers = pool_allocate();
	x86->siblings = vm->vcpus->of_several = true;
	x86->smp = smp;
	x86->shadow.apic = GANDALF_APIC_BASE | APIC_BASE_ENABLED |
			   (smp_is_first(smp) ? APIC_BASE_FIRST : 0);
	x86->shadow.apic_distance = smp->registers - GANDALF_APIC_BASE;
	smp->cpus = guest_cpus(vm->guest);
	ipis_prepare(smp, vm->guest);
	if (vm->guest->vcpu_cpus[vm->number] == core.index)
		part_comes(vm);
	core.unusual |= SWITCH_OF_SOME;
	if (vm_is_part(vm)) {
		vm->seat = guest_migrates(vm->guest) ? &smp_seat : NULL;
		preemption_watch(guest_migrates(vm->guest));
		seat_vms[vm->number] = vm;
	}
	return smp->registers != 0;
}

static const struct guest_kind smp_kind = {
	.number = GANDALF_KIND_LINUX_SMP, .create = smp_create, .ring = linux_ring,
	.act = vm_act_here, .read = guest_read, .write = guest_write,
};
GUEST_KIND(smp_kind);
