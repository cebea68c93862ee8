/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What moves with a vCPU of a Linux from the seat on one core to that on another: registers,
 * descriptors, local APIC, shared page, and what it has asked the first vCPU for
 * (core/migration.h). The state is read where the other core's instance has it, which nobody writes
 * to meanwhile.
 *
 * The shadow is loaded behind that, when the vCPU first goes on, since it may have to be filled:
 * this is work for the vCPU, with interrupts enabled, as any other that the VMM does for it.
 */
#include "arch/ia32/memory.h"
#include "arch/ia32/segment.h"
#include "arch/ia32/switch.h"
#include "core/instances.h"
#include "core/schedule.h"
#include "core/work.h"
#include "guests/x86/board.h"
#include "guests/x86/line.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/tlb.h"
#include "guests/x86/smp/smp.h"
#include "lib/string.h"
#include "masked_state.h"
#include "views.h"

/* The gate of Linux's system calls, which alone leads straight to ring 1. */
#define SYSTEM_CALL 0x80u
/* Bytes of a local APIC's page in which the registers are that a real one has, too. */
#define REGISTERS 1024u

/* The shadow stays, and no longer counts as being in use. */
static void seat_leave(struct vcpu *vcpu)
{
	struct x86 *x86 = vcpu->x86;

	smp_apic_leave(x86);
	ipis_leave(x86->smp);
	x86->shadow.current = NULL;
	x86->shadow.guest_directory = NULL;
	vcpu->cr3 = x86->shadow.identity;
}

static void registers_copy(struct vcpu *vcpu, u32 from, const struct vcpu *theirs)
{
	struct frame *frame = switch_prepare(vcpu);
	u32 stack;

	core_read(from, &stack, &theirs->stack_frames[1], sizeof(stack));
	memory_copy_in(frame, stack + PAGE_SIZE - sizeof(*frame), sizeof(*frame));
	core_read(from, &vcpu->cr0_guest, &theirs->cr0_guest, sizeof(vcpu->cr0_guest));
	core_read(from, &vcpu->tsd, &theirs->tsd, sizeof(vcpu->tsd));
	schedule_breathe();
	core_read(from, vcpu->dr, theirs->dr, sizeof(struct vcpu_registers));
	core.unusual |= vcpu->tsd != 0 || (vcpu->dr[7] & DEBUG_ENABLES) != 0;
}

/* The guest's descriptors, its kernel's stack and the gate of system calls. Whether code of
 * processes is absent is this seat's to say, as its alias page is. */
static void tables_copy(struct vcpu *vcpu, u32 from, const struct vcpu *theirs)
{
	struct segment_tables *own = vcpu->tables;
	const struct segment_tables *tables;

	core_read(from, &tables, &theirs->tables, sizeof(tables));
	core_pool_read(from, own->gdt, tables->gdt, SEGMENT_GUEST_ENTRIES * sizeof(own->gdt[0]));
	core_pool_read(from, &own->user_code, &tables->user_code, sizeof(own->user_code));
	core_pool_read(from, &own->tss.esp1, &tables->tss.esp1,
		       sizeof(own->tss.esp1) + sizeof(own->tss.ss1));
	core_pool_read(from, &own->idt[SYSTEM_CALL], &tables->idt[SYSTEM_CALL],
		       sizeof(own->idt[SYSTEM_CALL]));
	segment_set_user_code(vcpu, !vcpu->x86->armed);
}

/* Which directories and pages the shadow is of. It is given up if the vCPU has flushed meanwhile
 * what no log has, or if it reports no flushes. */
static void shadow_follow(struct x86 *x86, u32 from, const struct x86 *theirs)
{
	struct shadow *shadow = &x86->shadow;
	u32 protected_frame;

	core_pool_read(from, &protected_frame, &theirs->shadow.protected_frame,
		       sizeof(protected_frame));
	core_pool_read(from, &shadow->caching, &theirs->shadow.caching, sizeof(shadow->caching));
	x86->smp->stale |= !shadow->caching || protected_frame != shadow->protected_frame;
	shadow->protected_frame = protected_frame;
}

static void system_registers_copy(struct x86 *x86, u32 from, const struct x86 *theirs)
{
	union {
		struct {
			bool armed, interrupt_waits;
			u8 due;
			bool slept;
		};
		u32 word;
	} unusual;

	core_pool_read(from, &x86->cr0, &theirs->cr0,
		       offsetof(struct x86, point) - offsetof(struct x86, cr0));
	core_pool_read(from, &x86->tls_frame, &theirs->tls_frame,
		       sizeof(struct x86) - offsetof(struct x86, tls_frame));
	core_pool_read(from, &unusual.word, &theirs->unusual, sizeof(unusual.word));
	x86->due = unusual.due | SMP_DUE_ARRIVED;
	x86->slept = unusual.slept;
}

/* The timer is set when the vCPU first goes on. */
static void apic_copy(struct smp *smp, u32 from)
{
	u32 *page = smp->apic.page;
	struct smp theirs;

	core_read(from, &theirs, smp, sizeof(theirs));
	memory_copy_in(page, theirs.registers, REGISTERS);
	memory_copy_in(&page[GANDALF_APIC_AUTOMATIC_END / sizeof(u32)],
		       theirs.registers + GANDALF_APIC_AUTOMATIC_END, sizeof(u32));
	smp->apic = theirs.apic;
	smp->apic.page = page;
	smp->asks_in = theirs.asks_in;
	smp->asks_size = theirs.asks_size;
	smp->asks_length = theirs.asks_length;
	smp->stale |= smp->unlogged != theirs.unlogged;
	smp->unlogged = theirs.unlogged;
}

/* What the page of the core that it has left says of it: its requests for ports, and which
 * interrupts of siblings it has seen. */
static void page_copy(u32 from, u32 number)
{
	volatile struct smp_page *own = part_kind_of(core.index, number);
	volatile struct smp_page *theirs = part_kind_of(from, number);

	for (u32 i = 0; i < ARRAY_SIZE(own->ports); i++) {
		own->ports[i].request = theirs->ports[i].request;
		own->ports[i].value = theirs->ports[i].value;
	}
	own->port_number = theirs->port_number;
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++)
		own->ipi_seen[i] = theirs->ipi_seen[i];
}

/* Each variable of an instance lies at one address in all, and so does its seat's descriptor. */
static const struct vm *seat_of(u32 from, u32 number)
{
	const struct vm *vm;

	core_read(from, &vm, &seat_vms[number], sizeof(vm));
	return vm;
}

static u32 seat_life(const struct vm *vm, u32 from)
{
	u32 life;

	core_read(from, &life, &seat_of(from, vm->number)->own_life, sizeof(life));
	return life;
}

/* One that slept, or waits for a port, goes on with that: the frame's instruction is still the one
 * that it was in. */
static void processor_copy(struct vcpu *vcpu, u32 from, const struct vcpu *theirs)
{
	const struct gandalf_shared *shared;
	const struct x86 *their_x86;
	enum vcpu_state state;

	core_read(from, &their_x86, &theirs->x86, sizeof(their_x86));
	core_read(from, &shared, &theirs->shared, sizeof(shared));
	core_read(from, &state, &theirs->paused, sizeof(state));
	core_pool_read(from, vcpu->shared, shared, sizeof(*shared));
	system_registers_copy(vcpu->x86, from, their_x86);
	vcpu->x86->slept |= state == VCPU_HALTED;
	shadow_follow(vcpu->x86, from, their_x86);
}

static void seat_copy(struct vm *vm, u32 from)
{
	const struct vm *their_vm = seat_of(from, vm->number);
	const struct vcpu *theirs;

	core_read(from, &vm->started, &their_vm->started, sizeof(vm->started));
	core_read(from, &theirs, &their_vm->vcpus, sizeof(theirs));
	registers_copy(vm->vcpus, from, theirs);
	schedule_breathe();
	processor_copy(vm->vcpus, from, theirs);
	schedule_breathe();
	tables_copy(vm->vcpus, from, theirs);
	schedule_breathe();
	apic_copy(vm->vcpus->x86->smp, from);
	page_copy(from, vm->number);
	schedule_breathe();
}

static void seat_arrive(struct vcpu *vcpu)
{
	smp_apic_arrive(vcpu->x86);
}

const struct seat_operations smp_seat = {
	.leave = seat_leave, .life = seat_life, .copy = seat_copy, .arrive = seat_arrive,
};

/* Loads the space that CR3 names, as when the guest switches to it: a load of the value that CR3
 * has already would flush it. */
static void space_settle(struct x86 *x86)
{
	u32 cr3 = x86->cr3;

	x86->cr3 = ~cr3;
	shadow_load(x86, cr3);
}

/* A shadow that is stale has nothing that can be kept; the load then builds the kernel's half. The
 * TLB may have entries of the seat from when the vCPU was here last. */
static void shadow_settle(struct x86 *x86)
{
	if (x86->smp->stale) {
		directory_kernel_changes(&x86->shadow);
		spaces_free(&x86->shadow);
		x86->shadow.local_kernel = true;
		x86->smp->stale = false;
	}
	if (x86->cr0 & CR0_PG)
		space_settle(x86);
	if (x86->vcpu->state == VCPU_OFF) /* there was no frame for it */
		return;
	flush_log_follow(x86);
	tlb_flush_global();
}

void smp_settle_in(struct x86 *x86)
{
	u64 begin = rdtsc();

	EXPECTS_MASKED();
	work_begin(x86->vcpu);
	shadow_settle(x86);
	work_end(arrive);
	seat_took(GANDALF_TICKS_SETTLE, x86->smp->id, begin);
	x86->due = (u8)((x86->due & ~SMP_DUE_ARRIVED) | SMP_DUE_TIMER);
}
