/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves what goes with a vCPU of a Linux from the seat on one core to that on another: registers,
 * descriptors, local APIC, shared page, and what it has asked the first vCPU for
 * (core/migration.h). The core that it leaves writes it down as luggage (luggage.h), and nobody
 * writes there until the vCPU has come back and leaves again.
 *
 * The shadow is loaded behind that, when the vCPU first goes on, since it may have to be filled:
 * this is work for the vCPU, with interrupts enabled, as any other that the VMM does for it.
 */
#include "arch/ia32/fpu.h"
#include "arch/ia32/memory.h"
#include "arch/ia32/segment.h"
#include "arch/ia32/switch.h"
#include "core/rate.h"
#include "core/schedule.h"
#include "core/steal.h"
#include "core/trap_policy.h"
#include "core/work.h"
#include "guests/x86/board.h"
#include "guests/x86/line.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/kernel.h"
#include "guests/x86/shadow/tlb.h"
#include "guests/x86/smp/masked_sections.h"
#include "guests/x86/smp/smp.h"
#include "lib/string.h"
#include "masked_state.h"
#include "siblings.h"
#include "views.h"

_Static_assert(sizeof(((struct luggage *)NULL)->tls) == SEGMENT_TLS_ENTRIES * sizeof(u64),
	       "luggage.h");

/* What the vCPU has written down of itself on a core. Nobody changes it while another one reads. */
static struct luggage *luggage_of(u32 core_index, u32 number)
{
	volatile struct smp_page *page = part_kind_of(core_index, number);

	return (struct luggage *)&page->luggage;
}

/* --- Departure --- */

static void system_registers_pack(const struct x86 *x86, struct luggage *luggage)
{
	luggage->cr0 = x86->cr0;
	luggage->cr3 = x86->cr3;
	luggage->cr4 = x86->cr4;
	luggage->gdt_base = x86->gdt_base;
	luggage->idt_base = x86->idt_base;
	luggage->tss_base = x86->tss_base;
	luggage->gdt_limit = x86->gdt_limit;
	luggage->idt_limit = x86->idt_limit;
	luggage->tr = x86->tr;
	luggage->tls_hook = x86->tls_hook;
	luggage->tls_down = x86->tls_down;
	memcpy(luggage->tls, x86->tls, sizeof(luggage->tls));
	luggage->interrupt_flag = x86->vcpu->shared->interrupt_flag;
	luggage->cr2 = x86->vcpu->shared->cr2;
	luggage->locks = x86->vcpu->shared->locks;
}

static void processor_pack(const struct vcpu *vcpu, struct luggage *luggage)
{
	luggage->stack_frame = vcpu->stack_frames[1];
	luggage->tables_frame = vcpu->tables_frame;
	luggage->shared_frame = (u32)vcpu->shared - pool_distance;
	luggage->cr0_guest = vcpu->cr0_guest;
	luggage->tsd = vcpu->tsd;
	memcpy(luggage->registers.dr, vcpu->dr, sizeof(vcpu->dr));
	views_pack(vcpu, &luggage->view);
}

static void siblings_pack(const struct x86 *x86, struct luggage *luggage)
{
	const struct smp *smp = x86->smp;

	luggage->due = x86->due;
	luggage->slept = x86->slept || x86->vcpu->paused == VCPU_HALTED;
	luggage->caching = x86->shadow.caching;
	luggage->protected_frame = x86->shadow.protected_frame;
	luggage->asks_in = smp->asks_in;
	luggage->asks_size = smp->asks_size;
	luggage->asks_length = smp->asks_length;
	luggage->kernel = smp->kernel;
	local_apic_save(&smp->apic, &luggage->apic);
}

/* The shadow stays, and no longer counts as being in use. If the vCPU has not run here, its shadow
 * has followed no flush since its last stay. */
static void seat_leave(struct vcpu *vcpu)
{
	struct x86 *x86 = vcpu->x86;
	struct luggage *luggage = luggage_of(core.index, x86->smp->id);

	smp_apic_leave(x86);
	ipis_leave(x86->smp);
	if (views_watched(vcpu) != 0)
		kernel_watch_forgets(vcpu);
	luggage->life = vcpu->vm->own_life;
	luggage->started = vcpu->vm->started;
	system_registers_pack(x86, luggage);
	processor_pack(vcpu, luggage);
	siblings_pack(x86, luggage);
	if ((x86->due & SMP_DUE_ARRIVED) == 0)
		x86->smp->kernel_followed = x86->smp->kernel.count;
	x86->shadow.current = NULL;
	x86->shadow.guest_directory = NULL;
	vcpu->cr3 = x86->shadow.identity;
}

/* --- Arrival --- */

static void system_registers_unpack(struct x86 *x86, const struct luggage *luggage)
{
	x86->cr0 = luggage->cr0;
	x86->cr3 = luggage->cr3;
	x86->cr4 = luggage->cr4;
	x86->gdt_base = luggage->gdt_base;
	x86->idt_base = luggage->idt_base;
	x86->tss_base = luggage->tss_base;
	x86->gdt_limit = luggage->gdt_limit;
	x86->idt_limit = luggage->idt_limit;
	x86->tr = luggage->tr;
	x86->tls_hook = luggage->tls_hook;
	x86->tls_down = luggage->tls_down;
	memcpy(x86->tls, luggage->tls, sizeof(x86->tls));
	memset(&x86->tls_frame, 0, sizeof(x86->tls_frame));
	/* Whether code segments of processes are absent is this seat's to say, and the watch's. */
	views_unpack(x86, &luggage->view);
	gates_are_made(x86);
}

/* What is in a frame that the other core's seat has is copied from there. */
static void tables_unpack(struct vcpu *vcpu, const struct luggage *luggage)
{
	const struct segment_tables *theirs = memory_look(luggage->tables_frame);
	struct segment_tables *tables = vcpu->tables;

	memcpy(tables->gdt, theirs->gdt, SEGMENT_GUEST_ENTRIES * sizeof(tables->gdt[0]));
	fpu_arrive(vcpu, theirs->fpu);
	tables->user_code = theirs->user_code;
	tables->tss.esp1 = theirs->tss.esp1;
	tables->tss.ss1 = theirs->tss.ss1;
	tables->idt[PRIVILEGE_SYSTEM_CALL] = theirs->idt[PRIVILEGE_SYSTEM_CALL];
}

static void processor_unpack(struct vcpu *vcpu, const struct luggage *luggage)
{
	struct frame *frame = switch_prepare(vcpu);

	memcpy(frame, memory_look(luggage->stack_frame + PAGE_SIZE - sizeof(*frame)),
	       sizeof(*frame));
	memcpy(vcpu->dr, luggage->registers.dr, sizeof(vcpu->dr));
	vcpu->cr0_guest = luggage->cr0_guest;
	vcpu->tsd = luggage->tsd;
	core.unusual |= (vcpu->dr[7] & DEBUG_ENABLES) != 0 || vcpu->tsd != 0;
}

/* A seat that has just been made has not what the guest's start has written there. The core that
 * the vCPU left may not have known a frequency that this core has told all its seats. */
static void shared_unpack(struct x86 *x86, const struct luggage *luggage)
{
	struct gandalf_shared *shared = x86->vcpu->shared;

	if (x86->smp->stale)
		memory_copy_in(shared, luggage->shared_frame, sizeof(*shared));
	shared->tsc_rate |= rate_measured;
	shared->interrupt_flag = luggage->interrupt_flag;
	shared->cr2 = luggage->cr2;
	shared->locks = luggage->locks;
}

/* Notes what the shadow has missed since the vCPU left this seat: flushes of the kernel's half,
 * which no log has, and which page is kept read-only. */
static void shadow_unpack(struct x86 *x86, const struct luggage *luggage)
{
	struct smp *smp = x86->smp;
	struct shadow *shadow = &x86->shadow;

	smp->stale |= !luggage->caching || !shadow->caching ||
		      luggage->protected_frame != shadow->protected_frame ||
		      luggage->kernel.count - smp->kernel_followed > KERNEL_FLUSHES;
	smp->kernel = luggage->kernel;
	shadow->caching = luggage->caching;
	shadow->protected_frame = luggage->protected_frame;
}

/* One that slept, or waits for a port, goes on with that: the frame's instruction is still the one
 * that it was in. The timer is set when the vCPU first goes on. */
static void siblings_unpack(struct x86 *x86, const struct luggage *luggage)
{
	struct smp *smp = x86->smp;

	x86->due = luggage->due | SMP_DUE_ARRIVED;
	x86->slept = luggage->slept;
	smp->asks_in = luggage->asks_in;
	smp->asks_size = luggage->asks_size;
	smp->asks_length = luggage->asks_length;
	local_apic_load(&smp->apic, &luggage->apic);
}

/* What the page of the core that it has left says of it: its requests for ports, and which
 * interrupts of siblings it has seen. Nobody changes it there, and others look at it here when the
 * vCPU has arrived. */
static void page_copy(u32 from, u32 number)
{
	struct smp_page *own = (struct smp_page *)part_kind_of(core.index, number);
	const struct smp_page *theirs = (const struct smp_page *)part_kind_of(from, number);

	own->port_number = theirs->port_number;
	memcpy(own->ports, theirs->ports, sizeof(own->ports));
	memcpy(own->ipi_seen, theirs->ipi_seen, sizeof(own->ipi_seen));
	order_for_handlers();
}

static u32 seat_life(const struct vm *vm, u32 from)
{
	return luggage_of(from, vm->number)->life;
}

static void seat_copy(struct vm *vm, u32 from)
{
	const struct luggage *luggage = luggage_of(from, vm->number);
	struct vcpu *vcpu = vm->vcpus;

	vm->started = luggage->started;
	processor_unpack(vcpu, luggage);
	tables_unpack(vcpu, luggage);
	schedule_pause();
	system_registers_unpack(vcpu->x86, luggage);
	schedule_pause();
	shared_unpack(vcpu->x86, luggage);
	shadow_unpack(vcpu->x86, luggage);
	schedule_pause();
	siblings_unpack(vcpu->x86, luggage);
	steal_arrives(vcpu, from);
	page_copy(from, vm->number);
}

static void seat_arrive(struct vcpu *vcpu)
{
	smp_apic_arrive(vcpu->x86);
	if (views_watched(vcpu) != 0)
		trap_policy_arrives(vcpu->vm);
}

const struct seat_operations smp_seat = {
	.leave = seat_leave, .life = seat_life, .copy = seat_copy, .arrive = seat_arrive,
};

/* --- The shadow --- */

/* Loads the space that CR3 names, as when the guest switches to it: a load of the value that CR3
 * has already would flush it. */
static void space_settle(struct x86 *x86)
{
	u32 cr3 = x86->cr3;

	x86->cr3 = ~cr3;
	shadow_load(x86, cr3);
}

/* Flushes of the kernel's half since the vCPU left this seat. Returns false if one was of all. */
MUST_CHECK static bool kernel_is_followed(const struct smp *smp)
{
	for (u32 i = smp->kernel_followed; i != smp->kernel.count; i++)
		if (smp->kernel.pages[i % KERNEL_FLUSHES] == KERNEL_FLUSH_ALL)
			return false;
	return true;
}

/* Fills pages that the vCPU has flushed elsewhere. Its space is loaded. */
static void kernel_settle(struct x86 *x86)
{
	struct smp *smp = x86->smp;

	for (; smp->kernel_followed != smp->kernel.count; smp->kernel_followed++)
		kernel_resync_page(x86, smp->kernel.pages[smp->kernel_followed % KERNEL_FLUSHES]);
}

/* A shadow that is stale has nothing that can be kept; the load then builds the kernel's half. */
static void shadow_empty(struct x86 *x86)
{
	directory_kernel_changes(&x86->shadow);
	spaces_free(&x86->shadow);
	x86->shadow.local_kernel = true;
	x86->smp->stale = false;
	x86->smp->kernel_followed = x86->smp->kernel.count;
}

/* What siblings have flushed comes first, while no space is loaded. The TLB may have entries of the
 * seat from when the vCPU was here last. */
static void shadow_settle(struct x86 *x86)
{
	bool in_process = views_in_process(x86->vcpu, x86->vcpu->frame);

	if (in_process)
		views_show_kernel(x86);
	if (x86->smp->stale || !kernel_is_followed(x86->smp))
		shadow_empty(x86);
	flush_log_skip(x86);
	if (x86->cr0 & CR0_PG)
		space_settle(x86);
	if (x86->shadow.current != NULL)
		kernel_settle(x86);
	tlb_flush_global();
	if (in_process)
		views_show_process(x86);
}

void smp_settle_in(struct x86 *x86)
{
	u32 begin = seat_clock();

	EXPECTS_MASKED();
	work_unmask(x86->vcpu);
	shadow_settle(x86);
	work_mask(arrive);
	seat_took(GANDALF_TICKS_SETTLE, x86->smp->id, begin);
	x86->due = (u8)((x86->due & ~SMP_DUE_ARRIVED) | SMP_DUE_TIMER);
}
