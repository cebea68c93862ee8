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
#include "ia32/emulate.h"
#include "ia32/guest_access.h"

#define GATE_PRESENT (1ull << 47)

struct guest_gate {
	u32 offset;
	u32 selector;
	bool interrupt; /* clears the flag */
};

static bool gate_read(const struct pc *pc, unsigned vector, struct guest_gate *gate)
{
	u64 raw;
	unsigned type;

	if (vector * 8 + 7 > pc->idt_limit ||
	    !guest_read_8(pc->idt_base + vector * 8, &raw))
		return false;
	type = (unsigned)(raw >> 40) & 0x1f;
	gate->offset = (u32)(raw & 0xffff) | ((u32)(raw >> 32) & 0xffff0000);
	gate->selector = (u32)(raw >> 16) & 0xffff;
	gate->interrupt = type == GATE_INTERRUPT;
	return (raw & GATE_PRESENT) != 0 && (type == GATE_INTERRUPT || type == GATE_TRAP);
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

static u32 visible_eflags(const struct pc *pc)
{
	u32 eflags = pc->vcpu->frame->eflags & ~(EFLAGS_IOPL | EFLAGS_IF);

	return linux_interrupts_enabled(pc) ? eflags | EFLAGS_IF : eflags;
}

static u32 frame_build(struct pc *pc, u32 *words, bool has_error, u32 error)
{
	const struct frame *frame = pc->vcpu->frame;
	u32 count = 0;

	if (has_error)
		words[count++] = error;
	words[count++] = frame->eip;
	words[count++] = visible_cs(pc, frame->cs);
	words[count++] = visible_eflags(pc);
	if (pc_cpl(pc->vcpu) == 3) {
		words[count++] = frame->esp;
		words[count++] = frame->ss;
	}
	return count;
}

static void enter_ring_1(struct pc *pc)
{
	struct frame *frame = pc->vcpu->frame;

	if (pc_cpl(pc->vcpu) != 3)
		return;
	emulate_reload_stack(pc);
	frame->esp = pc->vcpu->tables->tss.esp1;
	frame->ss = pc->vcpu->tables->tss.ss1;
}

void inject(struct pc *pc, unsigned vector, bool has_error, u32 error)
{
	struct frame *frame = pc->vcpu->frame;
	struct guest_gate gate;
	u32 words[6];
	u32 count;
	bool flag;

	if (!gate_read(pc, vector, &gate)) {
		vm_stop(pc->vm, "triple fault: its IDT has no gate for %s",
			vector < EXCEPTIONS ? report_exception_name(vector) : "an interrupt");
		return;
	}
	count = frame_build(pc, words, has_error, error);
	flag = linux_interrupts_enabled(pc) && !gate.interrupt;
	enter_ring_1(pc);
	if (!guest_write(frame->esp - count * sizeof(u32), words, count * sizeof(u32))) {
		vm_stop(pc->vm, "triple fault: its stack cannot take %s",
			vector < EXCEPTIONS ? report_exception_name(vector) : "an interrupt");
		return;
	}
	frame->esp -= count * (u32)sizeof(u32);
	frame->eip = gate.offset;
	frame->cs = (gate.selector & ~3u) | 1;
	frame->eflags &= ~(EFLAGS_TF | EFLAGS_NT | EFLAGS_RF | EFLAGS_VM);
	linux_set_interrupts(pc, flag);
	if (vector < EXCEPTIONS)
		vcpu_count(pc->vcpu, COUNTER_exceptions);
	else
		vcpu_count(pc->vcpu, COUNTER_deliveries);
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
