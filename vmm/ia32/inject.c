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

/* CS as the guest's kernel is to see it. Without a flag of its own in the
 * frame (dedicated CPU) the real selector spares the trap at IRET, as soon as
 * Linux no longer compares it, which is after LTR. */
static u32 visible_cs(const struct pc *pc, u32 cs)
{
	if ((cs & 3) == 3 || (pc->dedicated && pc->tr != 0))
		return cs;
	return cs & ~3u;
}

inline void inject_reload_stack(struct pc *pc)
{
	u32 esp, ss;

	if (pc->tss_base != 0 && guest_read_8(pc->tss_base + TSS_ESP0, &esp, &ss))
		segment_set_guest_stack(pc->vcpu, ss & 0xffff, esp);
}

COLD static void triple_fault(struct pc *pc, unsigned vector, const char *why)
{
	vm_stop(pc->vm, "triple fault: its %s %s", why,
		vector < EXCEPTIONS ? report_exception_name(vector) : "an interrupt");
}

/* Builds the guest's frame in words, and moves ESP from ring 3's stack to the
 * kernel's. Returns behind the last word. */
static inline u32 *frame_build(struct pc *pc, struct frame *frame, u32 *words, bool enabled)
{
	u32 cs = frame->cs;

	words[0] = frame->eip;
	words[1] = visible_cs(pc, cs);
	words[2] = (frame->eflags & ~(EFLAGS_IOPL | EFLAGS_IF)) | (enabled ? EFLAGS_IF : 0);
	if ((cs & 3) != 3)
		return words + 3;
	words[3] = frame->esp;
	words[4] = frame->ss;
	inject_reload_stack(pc);
	frame->esp = pc->vcpu->tables->tss.esp1;
	frame->ss = pc->vcpu->tables->tss.ss1;
	return words + 5;
}

void inject(struct pc *pc, unsigned vector, bool has_error, u32 error)
{
	struct frame *frame = pc->vcpu->frame;
	bool enabled = linux_interrupts_enabled(pc);
	u32 words[6], low, high, size;

	words[0] = error;
	if (!gate_read(pc, vector, &low, &high)) {
		triple_fault(pc, vector, "IDT has no gate for");
		return;
	}
	size = (u32)((u8 *)frame_build(pc, frame, words + has_error, enabled) - (u8 *)words);
	if (!guest_write(frame->esp - size, words, size)) {
		triple_fault(pc, vector, "stack cannot take");
		return;
	}
	frame->esp -= size;
	frame->eip = (low & 0xffff) | (high & 0xffff0000);
	frame->cs = (low >> 16 & ~3u) | 1;
	frame->eflags &= ~(EFLAGS_TF | EFLAGS_NT | EFLAGS_RF | EFLAGS_VM);
	linux_set_interrupts(pc, enabled && (high & GATE_IS_TRAP) != 0);
	vcpu_count(pc->vcpu, vector < EXCEPTIONS ? COUNTER_exceptions : COUNTER_deliveries);
}

void inject_page_fault(struct pc *pc, u32 linear, u32 error)
{
	vcpu_count(pc->vcpu, COUNTER_guest_page_faults);
	pc->vcpu->shared->cr2 = linear;
	inject(pc, EXCEPTION_PF, true, error);
}

void inject_general_protection(struct pc *pc, u32 error)
{
	trace(TRACE_exception, EXCEPTION_GP, pc->vcpu->frame->eip);
	inject(pc, EXCEPTION_GP, true, error);
}
