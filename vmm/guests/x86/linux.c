/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux guests. On a shared CPU the real IF stays 1 while they run; what they
 * take for IF is a word in the shared page, set through an alias. While an
 * interrupt waits for it, the alias is read-only and ring 3's code segment
 * absent: whichever way Linux enables interrupts then, the VMM is told.
 */
#include "guests/x86/linux.h"

#include "arch/ia32/fpu.h"
#include "arch/ia32/memory.h"
#include "arch/ia32/switch.h"
#include "core/direct.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/pool.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/x86/board.h"
#include "guests/x86/emulate.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "lib/format.h"
#include "masked_state.h"
#include "platform/pc/apic.h"

/* Linux's 32-bit boot protocol (Documentation/x86/boot.rst): flat segments,
 * paging off, ESI the boot parameters. */
enum { BOOT_CODE = 0x10, BOOT_DATA = 0x18, TYPE_FLAT_CODE = 0x9b, TYPE_FLAT_DATA = 0x93 };
#define POST_PORT 0x80

static u32 *alias_entry(const struct vcpu *vcpu)
{
	u32 *table = pool_pointer(vcpu->table_frame);

	return &table[(GANDALF_SHARED_ALIAS - LAYOUT_VCPU) >> PAGE_SHIFT];
}

/* Lays the traps, or takes them away. */
static void arm(struct pc *pc, bool armed)
{
	pc->armed = armed;
	*alias_entry(pc->vcpu) ^= PTE_W;
	invlpg(GANDALF_SHARED_ALIAS);
	segment_set_user_code(pc->vcpu, !armed);
}

/* Delivery */

COLD static void deliver_direct(struct pc *pc)
{
	u32 count = pc->direct_count;

	pc->direct_count = 0;
	for (u32 i = 0; i < count; i++) {
		trace(TRACE_deliver, pc->direct_vectors[i], pc->vcpu->frame->eip);
		if (!inject(pc, pc->direct_vectors[i], INJECT_NO_ERROR))
			return;
	}
}

/* Who slept does so again, unless an interrupt came of it. */
static void deliver_due(struct vcpu *vcpu, struct pc *pc)
{
	bool slept = pc->slept;

	board_settle(pc);
	pc->slept = false;
	if (slept && !pc->interrupt_waits)
		vcpu_halt(vcpu);
}

APART static void deliver_waiting(struct vcpu *vcpu, struct pc *pc)
{
	if (pc->direct_count != 0)
		deliver_direct(pc);
	if (pc->due != 0)
		deliver_due(vcpu, pc);
	while (pc->interrupt_waits && vcpu->state != VCPU_OFF && linux_interrupt_flag(pc) != 0) {
		unsigned vector = board_acknowledge(pc->board);

		work_begin(vcpu);
		trace(TRACE_deliver, vector, vcpu->frame->eip);
		inject_last(pc, vector, INJECT_NO_ERROR); /* the loop ends if it stops the guest */
		work_end(deliver);
	}
	vcpu_notify_later(vcpu, pc->interrupt_waits);
	if (vcpu->state == VCPU_OFF || pc->interrupt_waits == pc->armed)
		return;
	if (pc->interrupt_waits) {
		trace(TRACE_defer, 0, vcpu->frame->eip);
		vcpu_count(vcpu, COUNTER_deferrals);
	}
	arm(pc, pc->interrupt_waits);
}

static void linux_deliver(struct vcpu *vcpu)
{
	struct pc *pc = vcpu->pc;

	if (pc->unusual != 0 || pc->direct_count != 0)
		deliver_waiting(vcpu, pc);
}

static void linux_interrupt(struct vcpu *vcpu, unsigned number)
{
	struct pc *pc = vcpu->pc;

	vcpu_notify(vcpu);
	if (!pc->dedicated) {
		board_interrupt(pc->board, number);
		return;
	}
	upcall_learn(pc, number);
	if (pc->direct_count < PC_DIRECT_VECTORS)
		pc->direct_vectors[pc->direct_count++] = (u8)number;
}

COLD static void linux_console(struct vcpu *vcpu)
{
	if (!vcpu->pc->dedicated)
		board_console(vcpu->vm->board);
}

/* Hypercalls */

static u32 hypercall_flush(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	shadow_flush(vcpu->pc, frame->ebx, frame->ecx, frame->edx);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_FLUSH, HYPERCALL_OF_LINUX, hypercall_flush);

static u32 hypercall_load_tls(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	struct pc *pc = vcpu->pc;
	u64 descriptors[SEGMENT_TLS_ENTRIES];

	vcpu_count(vcpu, COUNTER_tls_loads);
	if (!pc->tls_hook) {
		pc->tls_hook = true;
		shadow_protect(pc, SHADOW_NO_FRAME);
	}
	if (!guest_read(frame->ebx, descriptors, sizeof(descriptors)) ||
	    !guest_write(pc->gdt_base + SEGMENT_TLS_FIRST * 8, descriptors, sizeof(descriptors)))
		return hypercall_bad_address(vcpu, frame->ebx);
	for (u32 i = 0; i < SEGMENT_TLS_ENTRIES; i++)
		pc_set_descriptor(pc, SEGMENT_TLS_FIRST + i, descriptors[i]);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_LOAD_TLS, HYPERCALL_OF_LINUX, hypercall_load_tls);

/* Traps */

APART COLD static void access_beyond_base(struct pc *pc, u32 linear, u32 error)
{
	if (pc->armed && (linear & PTE_FRAME) == GANDALF_SHARED_ALIAS && (error & PF_W) &&
	    pc_cpl(pc->vcpu) == 1 && emulate_alias_store(pc))
		return;
	inject_page_fault(pc, linear, error & (PF_W | PF_U));
}

COLD static void access_refused(struct pc *pc, u32 linear, enum shadow_result result)
{
	if (result == SHADOW_PROTECTED || result == SHADOW_APIC)
		emulate_store(pc, linear, result == SHADOW_APIC);
	else if (result == SHADOW_OUTSIDE)
		vm_stop(pc->vm, "it writes physical memory that it lacks");
	else
		vm_stop(pc->vm, "the pool has no frame left for its page tables");
}

/* In the kernel's half, where its stores to the GDT fault; false: nothing unusual. */
HOT APART static bool access_to_kernel(struct pc *pc, u32 linear, u32 error)
{
	if ((linear & PTE_FRAME) == pc->shadow.protected_page && error == (PF_P | PF_W))
		return emulate_gdt_store(pc, linear);
	if (linear < GANDALF_BASE)
		return false;
	access_beyond_base(pc, linear, error);
	return true;
}

static void linux_page_fault(struct vcpu *vcpu, struct frame *frame)
{
	struct pc *pc = vcpu->pc;
	u32 linear = vcpu->fault_address;
	enum shadow_result result;

	EXPECTS_OPEN(vcpu);
	trace_fast(vcpu->id, TRACE_page_fault, linear, frame->eip);
	vcpu_count(vcpu, COUNTER_page_faults);
	if (linear >= SHADOW_KERNEL && access_to_kernel(pc, linear, frame->error))
		return;
	result = shadow_fill(pc, linear, &frame->error);
	if (result == SHADOW_FAULT)
		inject_page_fault(pc, linear, frame->error);
	else if (result != SHADOW_FILLED)
		access_refused(pc, linear, result);
}

/* The guest's own #NM, if it asked for it; else the FPU has another's state. */
COLD static void no_fpu(struct pc *pc)
{
	if ((pc->cr0 & (CR0_TS | CR0_EM)) != 0) {
		inject_last(pc, EXCEPTION_NM, INJECT_NO_ERROR);
		return;
	}
	work_end(no_fpu);
	fpu_take(pc->vcpu);
}

COLD static void exception(struct pc *pc, unsigned vector, u32 error)
{
	trace(TRACE_exception, vector, pc->vcpu->frame->eip);
	inject_last(pc, vector, EXCEPTION_ERROR_CODES >> vector & 1 ? error : INJECT_NO_ERROR);
}

static inline bool strict_tls(const struct vcpu *vcpu)
{
	return (vcpu->vm->guest->flags & GANDALF_GUEST_STRICT_TLS) != 0;
}

APART COLD static void trap_seldom(struct vcpu *vcpu, const struct frame *frame)
{
	struct pc *pc = vcpu->pc;

	if (frame->vector == EXCEPTION_GP && frame->error == 0 && strict_tls(vcpu) &&
	    pc_flip_tls(pc))
		return;
	if (frame->vector == EXCEPTION_GP && (frame->cs & 3) == 1) {
		emulate_general_protection(pc, frame->error);
		return;
	}
	trace(TRACE_trap, frame->vector, frame->eip);
	if (frame->vector == EXCEPTION_NM)
		no_fpu(pc);
	else if (frame->vector == VECTOR_VIRTUAL_8086 ||
		 (frame->vector == VECTOR_RETURN_FAULT && (frame->cs & 3) == 3))
		inject_general_protection(pc, 0); /* a process's: its kernel need not die */
	else if (frame->vector == VECTOR_RETURN_FAULT)
		vm_stop(vcpu->vm, "its CS, SS or EIP cannot be loaded");
	else if (frame->vector == EXCEPTION_DF)
		vm_stop(vcpu->vm, "double fault");
	else if (frame->vector != EXCEPTION_NP || pc_cpl(vcpu) != 1 || !emulate_blocked_return(pc))
		exception(pc, frame->vector, frame->error);
}

static void linux_trap(struct vcpu *vcpu, struct frame *frame)
{
	if (frame->vector == EXCEPTION_GP && (frame->cs & 3) == 1 && !strict_tls(vcpu))
		emulate_general_protection(vcpu->pc, frame->error);
	else
		trap_seldom(vcpu, frame);
}

/* Start and stop */

COLD static void command_line_complete(const struct gandalf_guest *guest)
{
	char number[GANDALF_COMMAND_LINE_ROOM];
	u32 size = format(number, sizeof(number), "%u", time_tsc_khz);

	memory_copy_out(guest->memory_base + guest->command_line, number, size + 1);
}

COLD static void linux_start(struct vcpu *vcpu)
{
	struct pc *pc = vcpu->pc;
	const struct gandalf_guest *guest = vcpu->vm->guest;
	struct frame *frame = switch_prepare(vcpu);

	schedule_breathe();
	command_line_complete(guest);
	schedule_breathe();
	pc->cr0 = CR0_PE | CR0_ET;
	pc->cr3 = pc->cr4 = pc->tss_base = 0;
	pc->gdt_limit = pc->idt_limit = pc->tr = 0;
	pc->tls_hook = pc->armed = false;
	pc->direct_count = 0;
	upcall_reset(pc);
	vcpu->cr0_guest = CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_ET | CR0_PE;
	*alias_entry(vcpu) |= PTE_W;
	shadow_reset(pc);
	schedule_breathe();
	segment_set_guest(vcpu, BOOT_CODE / 8,
			  segment_descriptor(0, 0xffffffff, TYPE_FLAT_CODE, true));
	segment_set_guest(vcpu, BOOT_DATA / 8,
			  segment_descriptor(0, 0xffffffff, TYPE_FLAT_DATA, true));
	segment_allow_ports(vcpu, POST_PORT, POST_PORT);
	schedule_breathe();
	board_reset(pc->board);
	if (pc->dedicated)
		direct_begin(vcpu);
	frame->cs = BOOT_CODE | 1;
	frame->ss = BOOT_DATA | 1;
	frame->ds = frame->es = BOOT_DATA;
	frame->eip = vcpu->vm->entry;
	frame->esi = guest->boot_parameters;
	frame->eflags = vcpu_eflags(vcpu, 0);
}

COLD static void linux_stop(struct vcpu *vcpu)
{
	board_stop(vcpu->vm->board);
	if (vcpu->pc->dedicated)
		direct_end();
}

/* Where another runs its EIP has no meaning. */
COLD static u32 linux_instruction(struct vcpu *vcpu, u8 *bytes, u32 size)
{
	return vcpu == core.current ? guest_fetch(vcpu, bytes, size) : 0;
}

/* An interrupt that the CPU cannot deliver to ring 1 while the VMM works in ring 0: the CPU may say
 * that an interrupt caused the exception, by bit 0. */
COLD static bool linux_upcall(struct frame *vmm)
{
	if (vmm->vector != EXCEPTION_GP || (vmm->error | 1) != GUEST_KERNEL_CODE)
		return false;
	upcall(vmm);
	return true;
}

static const struct vcpu_operations linux_operations = {
	.page_fault = linux_page_fault, .trap = linux_trap,
	.interrupt = linux_interrupt, .deliver = linux_deliver, .console = linux_console,
	.start = linux_start, .stop = linux_stop, .release = shadow_destroy,
	.instruction = linux_instruction, .fill = shadow_fill_for_vmm, .upcall = linux_upcall,
};

MUST_CHECK COLD static bool vcpu_pages_create(struct vcpu *vcpu)
{
	u32 shared = pool_allocate();
	u32 *table;

	vcpu->table_frame = pool_allocate();
	if (shared == 0 || vcpu->table_frame == 0)
		return false;
	vcpu->shared = pool_pointer(shared);
	table = pool_pointer(vcpu->table_frame);
	*alias_entry(vcpu) = shared | PTE_P | PTE_W | PTE_A | PTE_D;
	table[(GANDALF_SHARED_PAGE - LAYOUT_VCPU) >> PAGE_SHIFT] = *alias_entry(vcpu);
	return true;
}

COLD bool linux_create(struct vm *vm)
{
	u32 frame = pool_allocate();
	struct pc *pc;

	if (frame == 0 || !vcpu_pages_create(vm->vcpus))
		return false;
	pc = pool_pointer(frame);
	pc->vm = vm;
	pc->vcpu = vm->vcpus;
	pc->dedicated = vm->guest->kind == GANDALF_KIND_LINUX_DEDICATED;
	/* On a dedicated CPU interrupts are the guest's, and hit the VMM at points only. */
	vm->vcpus->interruptible = core.interruptible && !pc->dedicated;
	vm->vcpus->any_vector = pc->dedicated;
	vm->vcpus->eflags = EFLAGS_FIXED | (pc->dedicated ? EFLAGS_IOPL_1 : EFLAGS_IF);
	vm->vcpus->pc = pc;
	vm->vcpus->operations = &linux_operations;
	board_create(pc);
	if (pc->dedicated)
		pc->shadow.apic = apic_base;
	return (!pc->dedicated || upcall_create(pc->vcpu)) && shadow_create(pc);
}

COLD u32 linux_ring(const struct vm *vm)
{
	if (vm->state != GANDALF_STATE_RUNNING)
		return (u32)GANDALF_ERROR_ARGUMENT;
	board_interrupt(vm->board, GANDALF_DOORBELL_IRQ);
	return 0;
}

static const struct guest_kind shared_kind = {
	.number = GANDALF_KIND_LINUX_SHARED, .create = linux_create, .ring = linux_ring,
	.read = guest_read, .write = guest_write,
};
GUEST_KIND(shared_kind);
