/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs RTOS guests. All of an RTOS's memory is mapped in every address space, so the VMM reads and
 * writes it with plain pointers after one comparison with its size. Where the RTOS itself has it is
 * said in rtos_space.h.
 */
#include "arch/ia32/decode_quick.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/exception.h"
#include "arch/ia32/fpu.h"
#include "arch/ia32/memory.h"
#include "arch/ia32/switch.h"
#include "core/channel.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/rtos/rtos.h"
#include "guests/rtos/masked_sections.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "masked_state.h"
#include "rtos_space.h"

/* Bits 40 to 47 of its segments' descriptors: present, the privilege level, that it is code or
 * data, and the type (Intel SDM volume 3, 3.4.5). */
enum { TYPE_CODE = 0x9b | PRIVILEGE_KERNEL << 5, TYPE_DATA = 0x93 | PRIVILEGE_KERNEL << 5 };
/* Its selectors, with the ring that it is in. */
enum { SELECTOR_CODE = GANDALF_RTOS_CODE | PRIVILEGE_KERNEL,
       SELECTOR_DATA = GANDALF_RTOS_DATA | PRIVILEGE_KERNEL };
/* Bytes of console input or output after which interrupts are let in. */
#define CONSOLE_STEP 4u
/* The number of ports that are opened before more urgent guests are let run again. */
#define PORT_STEP 8u
/* The bytes of a handler's frame: EIP, CS, EFLAGS. */
#define FRAME_BYTES 12u

OF_GUESTS static struct rtos rtoses[GANDALF_GUESTS_MAXIMUM];

static const struct vcpu_operations rtos_operations;

/* Returns a pointer to size bytes of the guest's memory, which has a page at least, or NULL if some
 * of them lie outside of it. Every pointer in a hypercall passes here. It is never inlined, so that
 * tests/isolation can replace it. */
MUST_CHECK __attribute__((noipa)) static void *rtos_memory(const struct vm *vm, u32 address,
							    u32 size)
{
	u32 total = vm->guest->memory_size;

	if ((size > GANDALF_PAGE_SIZE && size > total) || address > total - size)
		return NULL;
	return (void *)(vm->linear + address);
}

/* --- Interrupts and exceptions --- */

/* Makes room for size bytes on the guest's stack, at most FRAME_BYTES. Returns false, and has
 * stopped the guest, if the stack is outside its memory. */
MUST_CHECK static INLINE bool rtos_push(struct vcpu *vcpu, u32 size, u32 **stack)
{
	u32 esp = vcpu->frame->esp - size;

	if (esp > vcpu->frame_last) {
		vm_stop(vcpu->vm, "its stack is outside its memory");
		return false;
	}
	vcpu->frame->esp = esp;
	*stack = (u32 *)(vcpu->linear + esp);
	return true;
}

/*
 * Has the guest go on at a handler, with interrupts disabled. Returns false, and has stopped the
 * guest, if its stack has no room. The guest's stack then, highest address first; an exception's
 * error code follows below:
 *	EFLAGS
 *	CS
 *	EIP	<- the guest's ESP
 */
MUST_CHECK static INLINE bool rtos_enter(struct vcpu *vcpu, u32 handler)
{
	struct frame *frame = vcpu->frame;
	u32 *stack;

	if (!rtos_push(vcpu, FRAME_BYTES, &stack))
		return false;
	stack[0] = frame->eip;
	stack[1] = frame->cs;
	stack[2] = frame->eflags;
	frame->eip = handler;
	frame->eflags &= ~(EFLAGS_TF | EFLAGS_NT | EFLAGS_RF);
	vcpu->shared->interrupt_flag = 0;
	return true;
}

static void rtos_exception(struct vcpu *vcpu, unsigned vector, u32 error)
{
	u32 handler = vcpu->rtos->handlers[vector];
	u32 *stack;

	trace_fast(vcpu, TRACE_exception, vector, vcpu->frame->eip);
	if (handler == 0) {
		vm_stop(vcpu->vm, "%s without a handler", exception_name(vector));
		return;
	}
	vcpu_count(vcpu, COUNTER_exceptions);
	if (rtos_enter(vcpu, handler) && (EXCEPTION_ERROR_CODES >> vector & 1) != 0 &&
	    rtos_push(vcpu, 4, &stack))
		*stack = error;
}

/* Does the IRET that the guest is about to do: it has set its flag in a handler and returns. So the
 * next handler's frame replaces the old one, and frames do not pile up on the stack. */
APART static void rtos_finish_return(struct vcpu *vcpu)
{
	struct frame *frame = vcpu->frame;
	const u32 *stack = (const u32 *)(vcpu->linear + frame->esp);

	if (frame->esp > vcpu->frame_last || (stack[1] & 0xffff) != SELECTOR_CODE)
		return;
	vcpu_count(vcpu, COUNTER_returns);
	frame->eip = stack[0];
	frame->eflags = vcpu_eflags(vcpu, stack[2]);
	frame->esp += FRAME_BYTES;
}

/* Takes the next pending vector: the timer's first, then the lowest. Returns it. */
static inline unsigned rtos_next_vector(struct vcpu *vcpu, struct rtos *rtos)
{
	struct gandalf_shared *shared = vcpu->shared;
	u32 pending = vcpu->pending;

	if (pending & TIMER_BIT) {
		vcpu->pending = pending & ~TIMER_BIT;
		if (!deadline_is_set(&rtos->timer))
			rtos_timer_resume(rtos);
		shared->timer_overruns = rtos->overruns;
		shared->timer_expiry = rtos->due;
		return GANDALF_VECTOR_TIMER;
	}
	vcpu->pending = pending & (pending - 1);
	return GANDALF_VECTOR_IRQ + (unsigned)__builtin_ctz(pending);
}

static void rtos_deliver(struct vcpu *vcpu)
{
	u32 handler = 0;

	EXPECTS_MASKED();
	while (handler == 0 && vcpu->pending != 0 &&
	       (vcpu->shared->interrupt_flag & GANDALF_INTERRUPT_FLAG) != 0) {
		struct rtos *rtos = vcpu->rtos;
		unsigned vector = rtos_next_vector(vcpu, rtos);

		handler = rtos->handlers[vector];
		if (handler == 0) {
			vcpu_count(vcpu, COUNTER_dropped_interrupts);
			continue;
		}
		trace_fast(vcpu, TRACE_deliver, vector, vcpu->frame->eip);
		vcpu_count(vcpu, COUNTER_deliveries);
		if (vcpu->frame->eip <= vcpu->frame_last &&
		    decode_returns(*(const u8 *)(vcpu->linear + vcpu->frame->eip)))
			rtos_finish_return(vcpu);
		if (!rtos_enter(vcpu, handler))
			return;
	}
	vcpu->shared->pending = 0;
	if (vcpu->pending != 0) {
		vcpu->shared->pending = 1;
		vcpu_notify_later(vcpu, true);
		vcpu_count(vcpu, COUNTER_deferrals);
	}
}

static void rtos_interrupt(struct vcpu *vcpu, unsigned irq)
{
	rtos_pend(vcpu, PENDING_BIT(GANDALF_VECTOR_IRQ + irq));
}

/* It may be more urgent than who rings. */
static u32 rtos_ring(const struct vm *vm)
{
	if (vm->state != GANDALF_STATE_RUNNING ||
	    vm->vcpus->rtos->handlers[GANDALF_VECTOR_DOORBELL] == 0)
		return (u32)GANDALF_ERROR_ARGUMENT;
	rtos_pend(vm->vcpus, PENDING_BIT(GANDALF_VECTOR_DOORBELL));
	vcpu_notify(core.current);
	return 0;
}

/* Without a handler the console's interrupt is dropped here and now. It is asked for again whenever
 * bytes come or go on the serial line, and would wake the guest each time for something that stays
 * unread. */
static void rtos_console(struct vcpu *vcpu)
{
	if (vcpu->rtos->handlers[GANDALF_VECTOR_CONSOLE] != 0 &&
	    console_has_input(vcpu->vm->console))
		rtos_pend(vcpu, CONSOLE_BIT);
}

/* --- Hypercalls --- */

static u32 hypercall_handlers(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	const struct gandalf_handlers *handlers =
		rtos_memory(vcpu->vm, frame->ebx, sizeof(*handlers));

	if (handlers == NULL)
		return hypercall_bad_address(vcpu, frame->ebx);
	memcpy(vcpu->rtos->handlers, handlers->entry, sizeof(handlers->entry));
	rtos_console(vcpu); /* for what was typed while there was no handler */
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_HANDLERS, HYPERCALL_OF_RTOS, hypercall_handlers);

static u32 hypercall_interrupt_flag(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	u32 old = vcpu->shared->interrupt_flag & GANDALF_INTERRUPT_FLAG;

	if ((frame->ebx & ~(u32)GANDALF_INTERRUPT_FLAG) != 0)
		return (u32)GANDALF_ERROR_ARGUMENT;
	vcpu->shared->interrupt_flag = frame->ebx;
	return old;
}
HYPERCALL(GANDALF_HYPERCALL_INTERRUPT_FLAG, HYPERCALL_OF_RTOS, hypercall_interrupt_flag);

static u32 hypercall_halt(struct vcpu *vcpu)
{
	vcpu_count(vcpu, COUNTER_halts);
	vcpu->shared->interrupt_flag = GANDALF_INTERRUPT_FLAG;
	if (vcpu->pending == 0)
		vcpu_halt(vcpu);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_HALT, HYPERCALL_OF_RTOS, hypercall_halt);

static u32 hypercall_console_write(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	const u8 *bytes = rtos_memory(vcpu->vm, frame->ebx, frame->ecx);
	u32 done = 0;

	if (frame->ecx > GANDALF_CONSOLE_CHUNK)
		return (u32)GANDALF_ERROR_ARGUMENT;
	if (bytes == NULL)
		return hypercall_bad_address(vcpu, frame->ebx);
	while (done < frame->ecx && console_put(vcpu->vm->console, (char)bytes[done])) {
		if (++done % CONSOLE_STEP != 0)
			continue;
		work_admit(rtos_print);
		if (vcpu->pending != 0)
			break;
	}
	work_admit(rtos_print);
	log_pump();
	return done;
}
HYPERCALL(GANDALF_HYPERCALL_CONSOLE_WRITE, HYPERCALL_OF_RTOS, hypercall_console_write);

static u32 hypercall_console_read(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	u8 *bytes = rtos_memory(vcpu->vm, frame->ebx, frame->ecx);
	u32 done = 0;
	int byte;

	if (frame->ecx > GANDALF_CONSOLE_CHUNK)
		return (u32)GANDALF_ERROR_ARGUMENT;
	if (bytes == NULL)
		return hypercall_bad_address(vcpu, frame->ebx);
	while (done < frame->ecx && (byte = console_get(vcpu->vm->console)) >= 0) {
		bytes[done++] = (u8)byte;
		if (done % CONSOLE_STEP == 0)
			work_admit(rtos_read);
	}
	return done;
}
HYPERCALL(GANDALF_HYPERCALL_CONSOLE_READ, HYPERCALL_OF_RTOS, hypercall_console_read);

static void rtos_trap(struct vcpu *vcpu, struct frame *frame)
{
	trace(TRACE_trap, frame->vector, frame->eip);
	if (frame->vector == EXCEPTION_NM && fpu_is_foreign(vcpu))
		fpu_take(vcpu);
	else if (frame->vector < EXCEPTIONS)
		rtos_exception(vcpu, frame->vector, frame->error);
	else
		vm_stop(vcpu->vm, frame->vector == VECTOR_RETURN_FAULT
					  ? "its CS, SS or EIP cannot be loaded"
					  : "it has entered virtual-8086 mode");
}

static u32 rtos_instruction(struct vcpu *vcpu, u8 *bytes, u32 size)
{
	u32 total = vcpu->vm->guest->memory_size;
	u32 eip = vcpu->frame->eip;

	if (eip >= total)
		return 0;
	size = minimum(size, total - eip);
	memcpy(bytes, (const void *)(vcpu->linear + eip), size);
	return size;
}

/* Opens a range of ports to the guest, in steps between which more urgent guests run. */
static void rtos_allow_ports(struct vcpu *vcpu, const struct gandalf_port_range *range)
{
	for (u32 first = range->first; first <= range->last; first += PORT_STEP) {
		segment_allow_ports(vcpu, (u16)first,
				    (u16)minimum(first + PORT_STEP - 1, range->last));
		schedule_admit();
	}
}

static void rtos_start(struct vcpu *vcpu)
{
	const struct gandalf_guest *guest = vcpu->vm->guest;
	struct frame *frame = switch_prepare(vcpu);
	u32 base = rtos_space_base(vcpu->vm);
	u32 limit = rtos_space_limit(guest->memory_size + vcpu->rtos->channel_bytes);

	memset(vcpu->rtos->handlers, 0, sizeof(vcpu->rtos->handlers));
	rtos_space_start(vcpu);
	vcpu->tables->gdt[GANDALF_RTOS_CODE / 8] =
		segment_descriptor(base, limit, TYPE_CODE, true);
	vcpu->tables->gdt[GANDALF_RTOS_DATA / 8] =
		segment_descriptor(base, limit, TYPE_DATA, true);
	for (u32 i = 0; i < guest->port_range_count; i++)
		rtos_allow_ports(vcpu, &guest->port_ranges[i]);
	frame->cs = SELECTOR_CODE;
	frame->ds = frame->es = frame->fs = frame->gs = frame->ss = SELECTOR_DATA;
	frame->eip = vcpu->vm->entry;
	frame->esp = frame->ebx = guest->memory_size - GANDALF_PAGE_SIZE;
	frame->eax = GANDALF_ENTRY_MAGIC;
	frame->eflags = vcpu_eflags(vcpu, 0);
}

static void rtos_stop(struct vcpu *vcpu)
{
	rtos_timer_stop(vcpu->rtos);
}

/* All of its memory is its own and mapped from the start: nothing is filled in, or freed. */
static bool rtos_fill(UNUSED struct vcpu *vcpu, UNUSED u32 address, UNUSED u32 error)
{
	return false;
}

static void rtos_release(UNUSED struct vcpu *vcpu)
{
}

static const struct vcpu_operations rtos_operations = {
	.page_fault = RTOS_SPACE_PAGE_FAULT, .general_protection = rtos_trap, .trap = rtos_trap,
	.interrupt = rtos_interrupt, .deliver = rtos_deliver, .console = rtos_console,
	.start = rtos_start, .stop = rtos_stop, .instruction = rtos_instruction,
	.fill = rtos_fill, .release = rtos_release,
};

static bool rtos_create(struct vm *vm)
{
	struct vcpu *vcpu = vm->vcpus;
	struct rtos *rtos = &rtoses[vm->index];

	vcpu->rtos = rtos;
	vm->linear = memory_map_rtos(vm->guest->memory_base, vm->guest->memory_size);
	vcpu->linear = vm->linear;
	vcpu->eflags = EFLAGS_FIXED | EFLAGS_IF;
	vcpu->frame_last = vm->guest->memory_size - FRAME_BYTES;
	rtos->channel_bytes = channel_map(vm);
	vcpu->operations = &rtos_operations;
	vcpu->cr0_guest = CR0_PG | CR0_NE | CR0_MP | CR0_ET | CR0_PE;
	vcpu->shared = rtos_memory(vm, vm->guest->memory_size - GANDALF_PAGE_SIZE,
				   sizeof(*vcpu->shared));
	hypercall_give(vcpu);
	rtos->vcpu = vcpu;
	rtos_timer_init(rtos, vm->guest->priority);
	return rtos_space_create(vm);
}

static const struct guest_kind rtos_kind = {
	.number = GANDALF_KIND_RTOS, .real_time = true, .create = rtos_create, .ring = rtos_ring,
	.act = vm_act_here,
};
GUEST_KIND(rtos_kind);
