/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves every entry in C: the handlers of the vectors, and what comes before the return to a
 * guest, which need not be the one that was interrupted.
 */
#include "arch/ia32/arch.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "arch/ia32/segment.h"
#include "core/direct.h"
#include "core/hypercall.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "life_state.h"
#include "lib/owner.h"
#include "stack_state.h"

/* entry.S reads core.current as the first word of core. */
_Static_assert(offsetof(struct core, current) == 0, "entry.S");

struct fixup {
	u32 at, to;
};

extern const struct fixup fixup_first[], fixup_last[];

OF_CORE void (*trap_handlers[VECTORS])(struct frame *frame);

/* Returns where the instruction at eip goes on when it faults, or NULL if it must not fault. */
static const struct fixup *trap_fixup(u32 eip)
{
	const struct fixup *fixup;

	for (fixup = fixup_first; fixup < fixup_last; fixup++)
		if (fixup->at == eip)
			return fixup;
	return NULL;
}

/* Returns whether a fault of the VMM in a guest's memory may fill the guest's shadow, which may
 * have to evict other shadow tables and so takes long. An interruptible guest's work may do that
 * with interrupts enabled only; that of other guests may always. */
static bool access_may_fill(const struct frame *frame)
{
	return (frame->eflags & EFLAGS_IF) != 0 ||
	       (!core.current->interruptible && !privilege_is_way(frame->eip));
}

/* Fills the guest's shadow at an address for an access with this error code, and returns whether
 * the guest's tables allowed it. The idle vCPU has no guest, and no operations. */
static bool access_fill(u32 address, u32 error)
{
	struct vcpu *vcpu = core.current;

	return vcpu != &idle_vcpu && vcpu->operations->fill(vcpu, address, error);
}

/*
 * Serves an exception of the VMM itself. A #DB there comes from a guest's breakpoint, which was
 * inhibited until the VMM's first instruction, or is on memory that the VMM copies. The guest's DR6
 * keeps it.
 */
static void trap_vmm(struct frame *frame)
{
	const struct fixup *fixup;

	if (!origin_is_vmm(frame))
		origin_mend(frame);
	fixup = trap_fixup(frame->eip);
	if (fixup == NULL && direct_is_owner(core.current) &&
	    core.current->operations->upcall(frame))
		return;
	if (origin_is_stray_interrupt(frame))
		return;
	if (frame->vector == EXCEPTION_DB) {
		debug_exception(core.current);
		frame->eflags &= ~EFLAGS_TF;
		return;
	}
	if (fixup == NULL)
		panic("exception %u in the VMM at %x, error code %x, CR2 %x", frame->vector,
		      frame->eip, frame->error, cr2_read());
	/* A page fault of a copy is repeated once the shadow has been filled. If the guest's tables
	 * do not allow the access, the copy ends at its fix-up. */
	if (frame->vector != EXCEPTION_PF || !access_may_fill(frame) ||
	    !access_fill(cr2_read(), frame->error))
		frame->eip = fixup->to;
}

void trap_attend(void)
{
	struct vcpu *vcpu = core.current;

	EXPECTS_MASKED();
	do {
		EXPECTS_LIFE(vcpu);
		vcpu_notice(vcpu);
		if (vcpu->vm->halt_wanted)
			vm_halt_wanted(vcpu->vm);
		if (schedule_for_return(vcpu))
			continue;
		vcpu_notice(vcpu); /* deliver() looks at all that has been notified so far */
		vcpu->operations->deliver(vcpu);
	} while (vcpu_must_attend(vcpu));
}

/* Serves an interrupt of the VMM: of the idle vCPU where it lets one in, or of work for a guest. A
 * vCPU that the interrupt woke runs at once, since the next interrupt may wait already. It may
 * change the FPU's owner, and CR2, which is restored. */
static INLINE void interrupt_vmm(struct vcpu *vcpu, unsigned vector, void (*serve)(unsigned vector))
{
	u32 cr2 = cr2_read();

	EXPECTS_STACK(vcpu);
	vcpu->working++;
	work_is_interrupted(vcpu);
	serve(vector);
	vcpu_count(vcpu, COUNTER_vmm_interrupts);
	if (schedule_gives_way()) {
		vcpu_count(vcpu, COUNTER_vmm_preemptions);
		vcpu_notify(vcpu);
		cr2_write(cr2);
	}
	work_goes_on(vcpu);
	vcpu->working--;
}

/* Serves an interrupt, whoever was interrupted. Returns true if that is a guest, which must not go
 * on before trap_attend() has looked at what the interrupt has changed. */
static INLINE bool interrupt_enter(struct frame *frame, unsigned vector,
				   void (*serve)(unsigned vector))
{
	struct vcpu *vcpu = core.current;

	trace_fast(vcpu, TRACE_interrupt, vector, frame->eip);
	if (!origin_is_guest(vcpu, frame)) {
		if (!origin_is_vmm(frame))
			origin_mend(frame);
		interrupt_vmm(vcpu, vector, serve);
		return false;
	}
	vcpu_count(vcpu, COUNTER_entries);
	vcpu_count(vcpu, COUNTER_interrupts);
	serve(vector);
	return true;
}

void trap_interrupt(struct frame *frame)
{
	if (interrupt_enter(frame, frame->vector, interrupt_serve))
		vcpu_notify(core.current);
}

static inline void clock_serve(UNUSED unsigned vector)
{
	interrupt_end();
	time_interrupt();
}

/* Serves the VMM's clock. An RTOS most likely waits, so this attends at once instead of having
 * entry.S find the vCPU's attention. */
static void trap_clock(struct frame *frame)
{
	if (interrupt_enter(frame, VECTOR_APIC_TIMER, clock_serve))
		trap_attend();
}

static void trap_exception(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	if (!origin_is_guest(vcpu, frame)) {
		trap_vmm(frame);
		return;
	}
	vcpu_count(vcpu, COUNTER_entries);
	work_unmask(vcpu);
	if (frame->vector == EXCEPTION_GP)
		vcpu->operations->general_protection(vcpu, frame);
	else
		vcpu->operations->trap(vcpu, frame);
}

/* Serves #DB, and ignores NMIs, which are no guest's. */
static void trap_debug(struct frame *frame)
{
	if (frame->vector == EXCEPTION_NMI)
		return;
	if (origin_is_guest(core.current, frame))
		debug_exception(core.current);
	trap_exception(frame);
}

static void trap_page_fault(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	if (!origin_is_guest(vcpu, frame)) {
		trap_vmm(frame);
		return;
	}
	vcpu_count(vcpu, COUNTER_entries);
	vcpu->fault_address = cr2_read();
	work_unmask(vcpu);
	vcpu->operations->page_fault(vcpu, frame);
}

/* Serves the vector of hypercalls where an interrupt may come by it, too. */
static void trap_any_hypercall(struct frame *frame)
{
	if (origin_is_guest(core.current, frame))
		frame->eax = trap_hypercall(frame);
	else
		trap_vmm(frame);
}

/* Stubs differ in numbers only, so they are made at boot to keep the image small. The error code
 * that they push is 0, as their bytes are before. */
void entries_make(void)
{
	for (u32 index = 0; index < ENTRY_STUBS; index++) {
		struct stub *stub = &entry_stubs[index];

		stub->push_error[0] = 0x6a;
		stub->push = 0x68;
		stub->vector = index;
		stub->jump = 0xe9;
		stub->distance = (u32)entry - (u32)stub->behind;
	}
	entry_stubs[ENTRY_STUB_ANY_HYPERCALL].vector = GANDALF_HYPERCALL_VECTOR;
	entry_stubs[GANDALF_HYPERCALL_VECTOR].distance += (u32)entry_hypercall - (u32)entry;
}

void trap_give_clock(bool given)
{
	trap_handlers[VECTOR_APIC_TIMER] = given ? trap_interrupt : trap_clock;
}

void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame))
{
	trap_handlers[vector] = handler;
}

void trap_init(void)
{
	for (u32 vector = 0; vector < 256; vector++)
		trap_handlers[vector] = vector < EXCEPTIONS ? trap_exception : trap_interrupt;
	trap_handlers[GANDALF_HYPERCALL_VECTOR] = trap_any_hypercall;
	trap_handlers[EXCEPTION_DB] = trap_handlers[EXCEPTION_NMI] = trap_debug;
	trap_handlers[EXCEPTION_PF] = trap_page_fault;
	trap_handlers[VECTOR_APIC_TIMER] = trap_clock;
	trap_handlers[VECTOR_RETURN_FAULT] = trap_handlers[VECTOR_VIRTUAL_8086] = trap_exception;
}
