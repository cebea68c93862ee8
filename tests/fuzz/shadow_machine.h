/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine around the VMM's code in fuzz_shadow.c: one PC guest, a processor with the TLB of
 * tests/unit/guests/x86/shadow/shadow_model.h whose entries come to the VMM's handlers with the
 * words that a CPU pushes, and stand-ins for the parts of the VMM that have nothing to do with page
 * tables.
 */
#ifndef GANDALF_FUZZ_SHADOW_MACHINE_H
#define GANDALF_FUZZ_SHADOW_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/channel.h"
#include "fake/kind.h"
#include "fake/last_words.h"
#include "guests/x86/board.h"
#include "guests/x86/linux.h"
#include "core/hypercall.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "platform/pc/apic.h"
#include "platform/pc/i8259.h"
#include "arch.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/fpu.h"
#include "guests/x86/inject.h"
#include "debug/shadow_check.h"
#include "arch/ia32/switch.h"

/* Says what is broken and where, in the log of the run. */
#define require(condition)                                                                  \
	do {                                                                                \
		if (!(condition)) {                                                         \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                            \
		}                                                                           \
	} while (0)
#define assert_true(condition) require(condition)
#define assert_int_equal(a, b) require((a) == (b))
#define assert_ptr_equal(a, b) require((a) == (b))
#define fail() abort()

#include "guests/x86/shadow/shadow_model.h"

#define VMM_ENTRY_BYTES 256u   /* room for a frame of the VMM's, and a word that may be missing */
#define COPY_EIP 0xfc480000u   /* an instruction of the VMM that may fault, and where it goes on */
#define COPY_FIXED_EIP 0xfc480010u
#define POINT_EIP 0xfc481000u  /* where interrupts are let in */
#define IDLE_EIP 0xfc482000u
#define SITES 64u

struct vcpu idle_vcpu, vcpus[GANDALF_GUESTS_MAXIMUM];
struct vm vms[GANDALF_GUESTS_MAXIMUM];
struct gandalf_trace_ring trace_rings[TRACE_RINGS];
u32 time_tsc_khz = 1000000, apic_base;
struct stub entry_stubs[ENTRY_STUBS];
/* One place of the VMM may fault. */
extern const u32 fixup_first[2];
const u32 fixup_first[2] = { COPY_EIP, COPY_FIXED_EIP };
__asm__(".globl fixup_last\nfixup_last = fixup_first + 8");

static struct vm *const vm = &vms[0];
static struct vcpu *const vcpu = &vcpus[0];
static struct x86 *x86;
static struct gandalf_guest guest;
static u32 tlb_turn;
/* What is left of the present VMM stack: the next entry goes below it. */
static u32 vmm_stack;
static u8 idle_stack[4096];
/* What may interrupt, as the fuzzer has it. */
static int line_in_service;
static u32 apic_vector;
static bool interrupts_wait;
static unsigned stops;

/* Where the guest goes on: behind an entry, instead of what the VMM suspended; or nowhere. */
static jmp_buf over;
static struct {
	struct frame *frame;
	jmp_buf jump;
} sites[SITES];
static u32 site_count;
static jmp_buf idle_left;

/* fuzz_shadow.c: the guest runs until the input is at its end; the guest is off; it sleeps. */
static void guest_goes_on(void);
static _Noreturn void guest_is_off(void);
static void guest_sleeps(void);
/* The VMM writes at a linear address where the processor finds this frame; it has. */
static void store_seen(u32 linear, u32 frame);
static void store_done(void);
/* Where the VMM works for a guest with interrupts enabled, perhaps. */
static void interrupt_at_work(void);

static u32 tlb_place(void)
{
	return tlb_turn++ * 7;
}

/* Stand-ins */

/*
 * Own stand-ins: the interrupt controllers answer as the fuzzer has them, by apic_in_service(),
 * apic_write_for_guest() and i8259_in_service(); entry_copy(), entry_leave(), schedule_gives_way()
 * and switch_prepare() are this machine; board_create(), board_reset(), board_settle(),
 * port_read() and port_write() are its board; direct_begin() and direct_end() give the CPU away;
 * fpu_show() and fpu_take() change CR0.TS; vm_stop() and vm_power_off() end the input.
 */
void vm_stop(struct vm *which, const char *pattern, ...)
{
	(void)pattern;
	require(which == vm);
	vcpu->state = VCPU_OFF;
	vcpu->attention = true;
	stops++;
}

void vm_power_off(struct vm *which)
{
	vm_stop(which, "off");
}

void vm_halt_wanted(struct vm *which)
{
	(void)which;
	abort();
}

/* Whoever runs in its place, it is back when an interrupt has come, or never. */
bool schedule_gives_way(void)
{
	if (core.current == &idle_vcpu)
		return false;
	if (vcpu->state == VCPU_OFF)
		guest_is_off();
	if (vcpu->state != VCPU_HALTED)
		return false;
	guest_sleeps();
	if (vcpu->state == VCPU_OFF)
		guest_is_off();
	vcpu->state = VCPU_RUNNING;
	return true;
}

void interrupt_serve(unsigned vector)
{
	if (core.direct != NULL && vcpu->state != VCPU_OFF)
		core.direct->operations->interrupt(core.direct, vector);
	vcpu->attention = true;
}

void time_interrupt(void)
{
	vcpu->attention = true;
}

void direct_begin(struct vcpu *which)
{
	core.direct = which;
	trap_give_clock(true);
}

void direct_end(void)
{
	core.direct = NULL;
	trap_give_clock(false);
}

u32 apic_in_service(void)
{
	return apic_vector;
}

bool apic_write_for_guest(u32 offset, u32 value)
{
	require(offset <= PAGE_SIZE - sizeof(value));
	return (value & 1) != 0;
}

int i8259_in_service(void)
{
	return line_in_service;
}

void fpu_show(struct vcpu *which)
{
	which->cr0 = which->cr0_guest | (fpu_is_foreign(which) ? CR0_TS : 0);
}

void fpu_take(struct vcpu *which)
{
	core.fpu_owner = which;
	fpu_show(which);
}

static struct board board;

void board_create(struct x86 *which)
{
	which->board = &board;
	board.x86 = which;
}

void board_reset(struct board *which)
{
	which->x86->interrupt_waits = false;
}

u32 port_read(struct x86 *which, u16 port, u32 size)
{
	(void)which;
	return port * size;
}

/* Any port has the chips interrupt, or takes that back, or notes that they are to be looked at. */
void port_write(struct x86 *which, u16 port, u32 size, u32 value)
{
	(void)port;
	(void)size;
	which->interrupt_waits = (value & 1) != 0;
	which->due = value >> 1 & 1;
	which->vcpu->attention = true;
}

void board_settle(struct x86 *which)
{
	which->due = 0;
}

void __wrap_memory_copy_out(u32 to, const void *from, u32 size);

void __wrap_memory_copy_out(u32 to, const void *from, u32 size)
{
	memcpy(physical + to, from, size);
}

void entry(void)
{
	abort();
}

void entry_hypercall(void)
{
	abort();
}

/* The VMM stack of the vCPU: pages of the pool, at the place of the layout. */

static u32 *stack_entry(u32 page)
{
	return (u32 *)pool_pointer(vcpu->table_frame) + (LAYOUT_STACK >> PAGE_SHIFT) % 1024 + page;
}

static bool stack_create(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(vcpu->stack_frames); i++) {
		vcpu->stack_frames[i] = pool_allocate();
		if (vcpu->stack_frames[i] == 0)
			return false;
		*stack_entry(i) = vcpu->stack_frames[i] | PTE_P | PTE_W | PTE_A | PTE_D;
	}
	for (u32 page = 0; page < 3 * (UPCALL_DEPTH + 1); page++)
		if (*stack_entry(page) & PTE_P)
			machine_map(LAYOUT_STACK + page * PAGE_SIZE, *stack_entry(page) & PTE_FRAME,
				    PAGE_SIZE);
	return true;
}

struct frame *switch_prepare(struct vcpu *which)
{
	which->frame = (struct frame *)(uintptr_t)LAYOUT_STACK_TOP - 1;
	memset(which->frame, 0, sizeof(*which->frame));
	which->tables->tss.esp0 = LAYOUT_STACK_TOP;
	return which->frame;
}

/* The VMM's own accesses to the guest's linear addresses, with CR0.WP 0. */

static void frame_is_guests(u32 frame)
{
	require(frame >= GUEST_BASE && frame - GUEST_BASE < GUEST_SIZE);
}

/* Where the processor finds a page, or 0: neither the TLB nor the tables have it. */
static u32 page_find(u32 linear)
{
	struct rights rights = tlb_walk(linear);

	return rights.present ? rights.frame : 0;
}

/* The VMM faults; false: that was not right, and it goes on elsewhere. */
static bool vmm_faults(u32 linear, bool write)
{
	u32 kept = vmm_stack;
	struct frame *frame = (struct frame *)(uintptr_t)(vmm_stack -= VMM_ENTRY_BYTES);
	bool interrupts = processor.interrupts;

	tlb_drop_page(linear);
	memset(frame, 0, VMM_ENTRY_BYTES);
	frame->vector = EXCEPTION_PF;
	frame->error = write ? PF_W : 0;
	frame->eip = COPY_EIP;
	frame->cs = SELECTOR_VMM_CODE;
	frame->eflags = EFLAGS_FIXED | (interrupts ? EFLAGS_IF : 0);
	processor.cr2 = linear;
	trap_handlers[EXCEPTION_PF](frame);
	processor.interrupts = interrupts;
	vmm_stack = kept;
	return frame->eip == COPY_EIP;
}

static bool copy_piece(u8 *host, u32 linear, u32 size, bool write)
{
	u32 frame;

	for (unsigned tries = 0; (frame = page_find(linear)) == 0; tries++)
		if (tries == 8 || !vmm_faults(linear, write))
			return false;
	if (write) {
		frame_is_guests(frame);
		store_seen(linear, frame);
		memcpy(physical + frame + linear % PAGE_SIZE, host, size);
		store_done();
	} else if (frame < MACHINE_MEMORY) {
		memcpy(host, physical + frame + linear % PAGE_SIZE, size);
	} else {
		require(frame == (x86->shadow.apic & PTE_FRAME));
		memset(host, 0, size);
	}
	return true;
}

/* Which side is the guest's its address tells: what the VMM copies from or to lies on its stack. */
u32 entry_copy(void *to, const void *from, u32 size)
{
	bool write = (uintptr_t)to <= UINT32_MAX;
	u32 linear = write ? (u32)(uintptr_t)to : (u32)(uintptr_t)from;
	u8 *host = write ? (u8 *)(uintptr_t)from : to;

	require(write != ((uintptr_t)from <= UINT32_MAX) && core.current == vcpu);
	require(linear < GANDALF_BASE && size <= GANDALF_BASE - linear);
	interrupt_at_work();
	while (size != 0) {
		u32 piece = minimum(size, PAGE_SIZE - linear % PAGE_SIZE);

		if (!copy_piece(host, linear, piece, write))
			return size;
		host += piece;
		linear += piece;
		size -= piece;
	}
	return 0;
}

/* Entries and returns, as entry.S has them. */

/* What every way back to the guest ends with. */
static void return_to_guest(void)
{
	processor.interrupts = false;
	if (vcpu->attention)
		trap_attend();
	require(vcpu->state == VCPU_RUNNING && core.current == vcpu);
	require(core.cr3 == vcpu->cr3 && processor.cr3 == vcpu->cr3);
	require((vcpu->frame->cs & 3) == PRIVILEGE_KERNEL || (vcpu->frame->cs & 3) == 3);
	require((vcpu->frame->eflags & EFLAGS_VM) == 0);
	require(vcpu->tables->tss.esp0 == (u32)(uintptr_t)(vcpu->frame + 1));
	vmm_stack = (u32)(uintptr_t)vcpu->frame - VMM_ENTRY_BYTES;
}

void entry_leave(struct frame *frame)
{
	for (u32 i = site_count; i-- > 0;)
		if (frame == sites[i].frame && frame != vcpu->frame) {
			site_count = i;
			longjmp(sites[i].jump, 1);
		}
	if (core.current == &idle_vcpu) {
		require((u16)frame->cs == SELECTOR_VMM_CODE && (u8 *)frame >= idle_stack &&
			(u8 *)frame < idle_stack + sizeof(idle_stack));
		longjmp(idle_left, 1);
	}
	require(frame == vcpu->frame);
	return_to_guest();
	guest_goes_on();
	longjmp(over, 1);
}

void entry_return(void)
{
	abort();
}

/* Words as the CPU and a stub push them: from the top of the stack down. */
struct pushes {
	u32 *top;
};

static void push(struct pushes *pushes, u32 value)
{
	*--pushes->top = value;
}

static void push_selectors_and_registers(struct pushes *pushes, const struct frame *frame,
					 u32 vector)
{
	const u32 *registers = &frame->edi;

	push(pushes, vector);
	push(pushes, frame->ds);
	push(pushes, frame->es);
	push(pushes, frame->fs);
	push(pushes, frame->gs);
	for (u32 i = 8; i-- > 0;)
		push(pushes, registers[i]);
}

/* What is pushed from EFLAGS on. code: whether the CPU gives an error code. A stub pushes one for
 * the vectors that have none. */
static struct frame *push_entry(struct pushes *pushes, const struct frame *frame, u32 vector,
				bool code, u32 error)
{
	bool stub = vector >= EXCEPTIONS || (EXCEPTION_ERROR_CODES >> vector & 1) == 0;

	push(pushes, frame->eflags);
	push(pushes, frame->cs);
	push(pushes, frame->eip);
	if (code)
		push(pushes, error);
	if (stub)
		push(pushes, 0);
	push_selectors_and_registers(pushes, frame, vector);
	return (struct frame *)pushes->top;
}

/* An entry of the guest, out of virtual-8086 mode or not. Its frame has the registers. */
static void guest_enters(u32 vector, bool code, u32 error, bool virtual_8086)
{
	struct frame registers = *vcpu->frame;
	struct pushes pushes = { (u32 *)(uintptr_t)vcpu->tables->tss.esp0 };
	struct frame *frame;

	if (virtual_8086) {
		registers.eflags |= EFLAGS_VM;
		for (u32 i = 0; i < 4; i++)
			push(&pushes, registers.ds);
	}
	push(&pushes, registers.ss);
	push(&pushes, registers.esp);
	frame = push_entry(&pushes, &registers, vector, code, error);
	vmm_stack = (u32)(uintptr_t)frame - VMM_ENTRY_BYTES;
	processor.interrupts = false;
	if (vector == GANDALF_HYPERCALL_VECTOR && !vcpu->any_vector)
		frame->eax = trap_hypercall(frame);
	else
		trap_handlers[vector](frame);
	/* An NMI is nobody's: back to wherever it came. */
	require(frame == vcpu->frame || vector == EXCEPTION_NMI);
	if (frame == vcpu->frame)
		return_to_guest();
}

/* An entry of the VMM itself, whose stack goes on below. */
static void vmm_enters(u32 eip, u32 vector, bool code, u32 error)
{
	struct frame registers = { .eip = eip, .cs = SELECTOR_VMM_CODE,
				   .eflags = EFLAGS_FIXED | EFLAGS_IF, .ds = SELECTOR_VMM_DATA };
	struct pushes pushes = { (u32 *)(uintptr_t)vmm_stack };
	struct frame *frame = push_entry(&pushes, &registers, vector, code, error);
	bool interrupts = processor.interrupts;
	u32 kept = vmm_stack;

	require(site_count < SITES);
	vmm_stack = (u32)(uintptr_t)frame - VMM_ENTRY_BYTES;
	processor.interrupts = false;
	sites[site_count].frame = frame;
	if (setjmp(sites[site_count].jump) == 0) {
		site_count++;
		trap_handlers[vector](frame);
		site_count--;
	}
	/* The guest has run meanwhile, perhaps, but cannot write here. */
	require(frame->eip == eip && frame->cs == SELECTOR_VMM_CODE);
	processor.interrupts = interrupts;
	vmm_stack = kept;
}

static void address_space_load(const struct vcpu *which)
{
	core.current = (struct vcpu *)(uintptr_t)which;
	core.cr3 = which->cr3;
	cr3_write(core.cr3);
}

/* The idle vCPU lets an interrupt in. */
static void idle_enters(u32 vector)
{
	u32 kept = vmm_stack;

	address_space_load(&idle_vcpu);
	vmm_stack = (u32)(uintptr_t)(idle_stack + sizeof(idle_stack));
	if (setjmp(idle_left) == 0)
		vmm_enters(IDLE_EIP, vector, false, 0);
	vmm_stack = kept;
	address_space_load(vcpu);
}

#endif
