/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injection. A guest's kernel sees itself as ring 0 in its frames (CS 0x60, not
 * 0x61): Linux compares with that, and its IRET then traps, so that the VMM can
 * restore the virtual interrupt flag.
 */
#include "ia32/inject.h"

#include "core/guest_linux.h"
#include "core/report.h"
#include "core/trace.h"
#include "ia32/guest_access.h"

/* Of a gate's second word. */
#define GATE_PRESENT 0x8000u
#define GATE_TYPE 0x1f00u
#define GATE_IS_TRAP 0x100u /* leaves the flag as it is */
#define TSS_ESP0 4

/* The words of the guest's gate; false: it has none that can be used. */
static inline bool gate_read(const struct pc *pc, unsigned vector, u32 *low, u32 *high)
{
	return vector * 8 + 7 <= pc->idt_limit &&
	       guest_read_8(pc->idt_base + vector * 8, low, high) && (*high & GATE_PRESENT) != 0 &&
	       (*high & GATE_TYPE & ~GATE_IS_TRAP) == GATE_INTERRUPT << 8;
}

/* The kernel's CS as it is to see it. Without a flag of its own in the
 * frame (dedicated CPU) the real selector spares the trap at IRET, as soon as
 * Linux no longer compares it, which is after LTR. */
static u32 visible_cs(const struct pc *pc, u32 cs)
{
	return pc->dedicated && pc->tr != 0 ? cs : cs & ~3u;
}

inline void inject_reload_stack(struct pc *pc)
{
	struct tss *tss = &pc->vcpu->tables->tss;
	u32 esp, ss;

	if (pc->tss_base == 0 || !read_or_fail((const u32 *)(pc->tss_base + TSS_ESP0), &esp, &ss))
		return;
	tss->esp1 = esp;
	tss->ss1 = (ss & 0xffff) | 1;
}

COLD static void triple_fault(struct pc *pc, unsigned vector, const char *why)
{
	vm_stop(pc->vm, "triple fault: its %s %s", why,
		vector < EXCEPTIONS ? report_exception_name(vector) : "an interrupt");
}

/* Whether the guest's kernel may write size bytes there, at most a page. */
static inline bool stack_writable(struct pc *pc, u32 linear, u32 size)
{
	u32 last = linear + size - 1;

	return linear <= GANDALF_BASE - size &&
	       (shadow_is_writable(pc->vcpu, linear) || shadow_make_writable(pc, linear)) &&
	       ((linear ^ last) < PAGE_SIZE || shadow_make_writable(pc, last));
}

/* The guest's frame, on its kernel's stack; ring 3's stack is left for that. flag: IF as the
 * guest sees it. */
INLINE static bool frame_build(struct pc *pc, struct frame *frame, u32 flag, bool has_error,
			       u32 error)
{
	const struct tss *tss = &pc->vcpu->tables->tss;
	u32 eflags = (frame->eflags & ~(EFLAGS_IOPL | EFLAGS_IF)) | flag;
	u32 size = (3u + has_error) * sizeof(u32);
	u32 eip = frame->eip;
	u32 cs = frame->cs;
	u32 *stack;

	if ((cs & 3) == 3) {
		u32 old_esp = frame->esp;
		u32 old_ss = frame->ss;

		inject_reload_stack(pc);
		stack = (u32 *)(tss->esp1 - 2 * sizeof(u32));
		if (!stack_writable(pc, (u32)stack - size, size + 2 * sizeof(u32)) ||
		    !write_or_fail(stack, old_esp) || !write_or_fail(stack + 1, old_ss))
			return false;
		frame->ss = tss->ss1;
	} else {
		cs = visible_cs(pc, cs);
		stack = (u32 *)frame->esp;
		if (!stack_writable(pc, (u32)stack - size, size))
			return false;
	}
	frame->esp = (u32)stack - size;
	return write_or_fail(stack - 1, eflags) && write_or_fail(stack - 2, cs) &&
	       write_or_fail(stack - 3, eip) && (!has_error || write_or_fail(stack - 4, error));
}

INLINE static void inject_now(struct pc *pc, unsigned vector, bool has_error, u32 error)
{
	struct vcpu *vcpu = pc->vcpu;
	struct frame *frame = vcpu->frame;
	u32 flag = linux_interrupt_flag(pc);
	u32 low, high;

	if (!gate_read(pc, vector, &low, &high)) {
		triple_fault(pc, vector, "IDT has no gate for");
		return;
	}
	if (!frame_build(pc, frame, flag, has_error, error)) {
		triple_fault(pc, vector, "stack cannot take");
		return;
	}
	frame->eip = (low & 0xffff) | (high & 0xffff0000);
	frame->cs = (low >> 16 & ~3u) | 1;
	frame->eflags &= ~(EFLAGS_TF | EFLAGS_NT | EFLAGS_RF | EFLAGS_VM);
	linux_set_interrupts(pc, flag != 0 && (high & GATE_IS_TRAP) != 0);
	vcpu_count(vcpu, vector < EXCEPTIONS ? COUNTER_exceptions : COUNTER_deliveries);
}

COLD void inject(struct pc *pc, unsigned vector, bool has_error, u32 error)
{
	inject_now(pc, vector, has_error, error);
}

/* The most frequent one has a copy of its own, of some 300 bytes. */
void inject_page_fault(struct pc *pc, u32 linear, u32 error)
{
	struct vcpu *vcpu = pc->vcpu;

	vcpu_count(vcpu, COUNTER_guest_page_faults);
	vcpu->shared->cr2 = linear;
	inject_now(pc, EXCEPTION_PF, true, error);
}

void inject_general_protection(struct pc *pc, u32 error)
{
	trace(TRACE_exception, EXCEPTION_GP, pc->vcpu->frame->eip);
	inject(pc, EXCEPTION_GP, true, error);
}
