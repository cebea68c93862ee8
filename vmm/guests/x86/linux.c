/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what is the same for all kinds of Linux guests. On a shared CPU the real IF stays 1 while
 * they run. What they take for IF is a word in the shared page, which is set through an alias.
 * While an interrupt waits for the guest, the alias is read-only and ring 3's code segment absent,
 * so whichever way Linux enables interrupts then enters the VMM.
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
#include "guests/x86/line.h"
#include "guests/x86/masked_sections.h"
#include "lib/format.h"
#include "masked_state.h"
#include "platform/pc/apic.h"
#include "siblings.h"
#include "views.h"
#include "whole.h"

/* Linux's 32-bit boot protocol (Documentation/x86/boot.rst) wants flat segments,
 * paging off, and the address of the boot parameters in ESI. */
enum { BOOT_CODE = 0x10, BOOT_DATA = 0x18, TYPE_FLAT_CODE = 0x9b, TYPE_FLAT_DATA = 0x93 };

static u32 *alias_entry(const struct vcpu *vcpu)
{
	u32 *table = pool_pointer(vcpu->table_frame);

	return &table[(GANDALF_SHARED_ALIAS - LAYOUT_VCPU) >> PAGE_SHIFT];
}

/* Lays the traps by which Linux enters the VMM when it enables interrupts, or removes them. */
static void arm(struct x86 *x86, bool armed)
{
	x86->armed = armed;
	*alias_entry(x86->vcpu) ^= PTE_W;
	invlpg(GANDALF_SHARED_ALIAS);
	views_stop_returns(x86->vcpu, returns_are_stopped(x86));
}

/* --- Delivery --- */

/* Looks at the chips that are due. A guest that slept sleeps again, unless an interrupt waits
 * now. */
static void deliver_due(struct x86 *x86)
{
	bool slept = x86->slept;

	board_settle(x86);
	x86->slept = false;
	if (slept)
		linux_sleep(x86);
}

APART static void deliver_waiting(struct vcpu *vcpu, struct x86 *x86)
{
	if (siblings_hold(x86))
		return;
	if (x86->due != 0)
		deliver_due(x86);
	while (x86->interrupt_waits && vcpu->state != VCPU_OFF && linux_interrupt_flag(x86) != 0) {
		unsigned vector = interrupt_acknowledge(x86);

		work_unmask(vcpu);
		trace(TRACE_deliver, vector, vcpu->frame->eip);
		inject_last(x86, vector, INJECT_NO_ERROR); /* the loop ends if it stops the guest */
		work_mask(deliver);
	}
	vcpu_notify_later(vcpu, x86->interrupt_waits);
	if (vcpu->state == VCPU_OFF || x86->interrupt_waits == x86->armed)
		return;
	if (x86->interrupt_waits) {
		trace(TRACE_defer, 0, vcpu->frame->eip);
		vcpu_count(vcpu, COUNTER_deferrals);
	}
	arm(x86, x86->interrupt_waits);
}

void linux_deliver(struct vcpu *vcpu)
{
	struct x86 *x86 = vcpu->x86;

	if (x86->unusual != 0)
		deliver_waiting(vcpu, x86);
}

/* --- Hypercalls --- */

static u32 hypercall_flush(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;

	flush_tell(vcpu->x86, frame->ebx, frame->ecx, frame->edx);
	shadow_flush(vcpu->x86, frame->ebx, frame->ecx, frame->edx);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_FLUSH, HYPERCALL_OF_LINUX, hypercall_flush);

static u32 hypercall_load_tls(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	struct x86 *x86 = vcpu->x86;
	u64 descriptors[SEGMENT_TLS_ENTRIES];

	vcpu_count(vcpu, COUNTER_tls_loads);
	if (!x86->tls_hook) {
		x86->tls_hook = true;
		shadow_protect(x86, SHADOW_NO_FRAME);
	}
	if (!guest_read(frame->ebx, descriptors, sizeof(descriptors)) ||
	    !guest_write(x86->gdt_base + SEGMENT_TLS_FIRST * 8, descriptors, sizeof(descriptors)))
		return hypercall_bad_address(vcpu, frame->ebx);
	for (u32 i = 0; i < SEGMENT_TLS_ENTRIES; i++)
		x86_set_descriptor(x86, SEGMENT_TLS_FIRST + i, descriptors[i]);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_LOAD_TLS, HYPERCALL_OF_LINUX, hypercall_load_tls);

/* --- Traps --- */

APART static void access_beyond_base(struct x86 *x86, u32 linear, u32 error)
{
	if (x86->armed && (linear & PTE_FRAME) == GANDALF_SHARED_ALIAS && (error & PF_W) &&
	    views_in_kernel(x86->vcpu, x86->vcpu->frame) && emulate_alias_store(x86))
		return;
	inject_page_fault(x86, linear, error & (PF_W | PF_U));
}

static void access_refused(struct x86 *x86, u32 linear, enum shadow_result result)
{
	if (result == SHADOW_PROTECTED || result == SHADOW_APIC)
		emulate_store(x86, linear, result == SHADOW_APIC);
	else if (result == SHADOW_OUTSIDE)
		vm_stop(x86->vm, "it writes physical memory that it lacks");
	else
		vm_stop(x86->vm, "the pool has no frame for its page tables");
}

/* Serves a fault in the kernel half, or in the VMM's part, if it is a store to the GDT or beyond
 * the base of the VMM. Returns false if it is neither. */
HOT APART static bool access_to_kernel(struct x86 *x86, u32 linear, u32 error)
{
	if ((linear & PTE_FRAME) == x86->shadow.protected_page && error == (PF_P | PF_W))
		return emulate_gdt_store(x86, linear);
	if (linear < GANDALF_BASE && !views_hide(x86->vcpu, linear))
		return false;
	access_beyond_base(x86, linear, error);
	return true;
}

void linux_page_fault(struct vcpu *vcpu, struct frame *frame)
{
	struct x86 *x86 = vcpu->x86;
	u32 linear = vcpu->fault_address;
	enum shadow_result result;

	EXPECTS_UNMASKED(vcpu);
	trace_fast(vcpu, TRACE_page_fault, linear, frame->eip);
	vcpu_count(vcpu, COUNTER_page_faults);
	frame->error = views_error(vcpu, frame->error);
	if (linear >= SHADOW_KERNEL && access_to_kernel(x86, linear, frame->error))
		return;
	result = shadow_fill(x86, linear, &frame->error);
	if (result == SHADOW_FAULT) {
		views_await(x86, linear, frame->error);
		inject_page_fault(x86, linear, frame->error);
	} else if (!shadow_repeats(result)) {
		access_refused(x86, linear, result);
	}
}

/* Serves a #NM: the guest gets it if it has set TS or EM; if not, the FPU has another's state. */
static void no_fpu(struct x86 *x86)
{
	if ((x86->cr0 & (CR0_TS | CR0_EM)) != 0) {
		inject_last(x86, EXCEPTION_NM, INJECT_NO_ERROR);
		return;
	}
	work_mask(no_fpu);
	fpu_take(x86->vcpu);
}

static void exception(struct x86 *x86, unsigned vector, u32 error)
{
	trace(TRACE_exception, vector, x86->vcpu->frame->eip);
	inject_last(x86, vector, EXCEPTION_ERROR_CODES >> vector & 1 ? error : INJECT_NO_ERROR);
}

void linux_trap(struct vcpu *vcpu, struct frame *frame)
{
	struct x86 *x86 = vcpu->x86;

	trace(TRACE_trap, frame->vector, frame->eip);
	if (views_return(x86, frame))
		return;
	if (frame->vector == EXCEPTION_NM)
		no_fpu(x86);
	else if (frame->vector == VECTOR_VIRTUAL_8086 ||
		 (frame->vector == VECTOR_RETURN_FAULT && views_in_process(vcpu, frame)))
		inject_general_protection(x86, 0); /* ends a process, and its kernel lives */
	else if (frame->vector == VECTOR_RETURN_FAULT)
		vm_stop(vcpu->vm, "its CS, SS or EIP cannot be loaded");
	else if (frame->vector == EXCEPTION_DF)
		vm_stop(vcpu->vm, "double fault");
	else if (frame->vector != EXCEPTION_NP || !views_in_kernel(vcpu, frame) ||
		 !emulate_blocked_return(x86))
		exception(x86, frame->vector, frame->error);
}

/* --- Start and stop --- */

static void command_line_complete(const struct gandalf_guest *guest)
{
	char number[GANDALF_COMMAND_LINE_ROOM];
	u32 size = format(number, sizeof(number), "%u", time_tsc_khz);

	memory_copy_out(guest->memory_base + guest->command_line, number, size);
}

void linux_start(struct vcpu *vcpu)
{
	struct x86 *x86 = vcpu->x86;
	const struct gandalf_guest *guest = vcpu->vm->guest;
	struct frame *frame = switch_prepare(vcpu);

	schedule_admit();
	if (!vm_is_part(vcpu->vm))
		command_line_complete(guest);
	schedule_admit();
	x86->cr0 = CR0_PE | CR0_ET;
	x86->cr3 = x86->cr4 = x86->tss_base = 0;
	x86->gdt_limit = x86->idt_limit = x86->tr = 0;
	x86->tls_hook = x86->armed = false;
	x86->code_mask = ~3u;
	views_reset(x86);
	vcpu->cr0_guest = CR0_PG | PRIVILEGE_CR0 | CR0_NE | CR0_MP | CR0_ET | CR0_PE;
	*alias_entry(vcpu) |= PTE_W;
	shadow_reset(x86);
	schedule_admit();
	segment_set_guest(vcpu, BOOT_CODE / 8,
			  segment_descriptor(0, 0xffffffff, TYPE_FLAT_CODE, true));
	segment_set_guest(vcpu, BOOT_DATA / 8,
			  segment_descriptor(0, 0xffffffff, TYPE_FLAT_DATA, true));
	schedule_admit();
	if (!vm_is_part(vcpu->vm))
		board_reset(x86->board);
	siblings_start(x86);
	frame->cs = BOOT_CODE | PRIVILEGE_KERNEL;
	frame->ss = BOOT_DATA | PRIVILEGE_KERNEL;
	frame->ds = frame->es = BOOT_DATA;
	frame->eip = vcpu->vm->entry;
	frame->esi = guest->boot_parameters;
	frame->eflags = vcpu_eflags(vcpu, 0);
}

void linux_stop(struct vcpu *vcpu)
{
	if (!vm_is_part(vcpu->vm))
		board_stop(vcpu->x86->board);
	siblings_stop(vcpu->x86);
}

/* Only the current vCPU's memory is mapped where its EIP points. */
u32 linux_instruction(struct vcpu *vcpu, u8 *bytes, u32 size)
{
	return vcpu == core.current ? guest_fetch(vcpu, bytes, size) : 0;
}

MUST_CHECK static bool vcpu_pages_create(struct vcpu *vcpu)
{
	u32 shared = pool_allocate();
	u32 *table;

	vcpu->table_frame = pool_allocate();
	if (shared == 0 || vcpu->table_frame == 0)
		return false;
	vcpu->shared = pool_pointer(shared);
	table = pool_pointer(vcpu->table_frame);
	*alias_entry(vcpu) = shared | PTE_P | PTE_W | PTE_A | PTE_D | VIEWS_ALWAYS;
	table[(GANDALF_SHARED_PAGE - LAYOUT_VCPU) >> PAGE_SHIFT] = *alias_entry(vcpu);
	return true;
}

bool linux_create(struct vm *vm, const struct policy *policy)
{
	u32 frame = pool_allocate();
	struct x86 *x86;

	if (frame == 0 || !vcpu_pages_create(vm->vcpus))
		return false;
	x86 = pool_pointer(frame);
	x86->vm = vm;
	x86->vcpu = vm->vcpus;
	x86->policy = policy;
	x86->flag = &vm->vcpus->shared->interrupt_flag;
	vm->vcpus->interruptible = core.interruptible && policy->interruptible;
	vm->vcpus->any_vector = policy->any_vector;
	vm->vcpus->eflags = policy->eflags;
	vm->vcpus->x86 = x86;
	vm->vcpus->operations = &policy->operations;
	hypercall_give(vm->vcpus);
	views_begin();
	if (!vm_is_part(vm))
		board_create(x86);
	return shadow_create(x86);
}

u32 linux_ring(const struct vm *vm)
{
	if (vm->state != GANDALF_STATE_RUNNING)
		return (u32)GANDALF_ERROR_ARGUMENT;
	line_pulse(vm->vcpus->x86->board, GANDALF_DOORBELL_IRQ);
	return 0;
}
