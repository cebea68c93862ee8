/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RTOS of 64 KiB that has started and registered a handler for each vector, and what
 * the VMM around its code does.
 */
#ifndef GANDALF_FAKE_RTOS_H
#define GANDALF_FAKE_RTOS_H

#ifndef _GNU_SOURCE
#error "a test that includes rtos.h defines _GNU_SOURCE first"
#endif

#include "fake/map_at.h"
#include "fake/kind.h"
#include "core/hypercall.h"
#include "core/interrupt.h"
#include "arch/ia32/layout.h"
#include "core/log.h"
#include "arch/ia32/memory.h"
#include "core/time.h"
#include "arch/ia32/fpu.h"
#include "arch/ia32/segment.h"
#include "arch/ia32/switch.h"
#include "fake/hand_on.h"
#include "fake/vmm.h"

#define MEMORY 0x10000u
#define CHANNELS 0x3000u
#define SHARED (MEMORY - GANDALF_PAGE_SIZE)
#define TABLE 0x2000u
#define STACK 0x8000u
#define CODE 0x1000u
#define PRIORITY 7u
#define HANDLER(n) (0x4000u + 16 * (n))

u32 time_tsc_khz = 1000000;
struct console_mux consoles;
static struct segment_tables real_tables;
static struct console console;
static unsigned room;
/* Bytes that were printed since the VMM last let interrupts in, at most; the byte after which an
 * interrupt comes. */
static unsigned longest, since_pause, admitted, interrupt_at;
static char written[1024], typed[1024];
static u32 written_count, typed_first, typed_count;
static u8 *memory;

static void measure_pauses(void)
{
	since_pause = admitted == processor.admissions ? since_pause + 1 : 1;
	admitted = processor.admissions;
	if (since_pause > longest)
		longest = since_pause;
}

bool console_put(struct console *which, char character)
{
	assert_ptr_equal(which, &console);
	if (room == 0)
		return false;
	room--;
	measure_pauses();
	written[written_count++] = character;
	if (written_count == interrupt_at)
		vcpu.operations->interrupt(&vcpu, 7);
	return true;
}

int console_get(struct console *which)
{
	(void)which;
	return typed_first < typed_count ? (u8)typed[typed_first++] : -1;
}

bool console_has_input(const struct console *which)
{
	(void)which;
	return typed_first < typed_count;
}

u32 channel_map(const struct vm *which)
{
	assert_ptr_equal(which, &vm);
	return CHANNELS;
}

u32 memory_map_rtos(u32 address, u32 size)
{
	assert_int_equal(address, guest.memory_base);
	assert_int_equal(size, guest.memory_size);
	return LAYOUT_RTOS;
}

struct frame *switch_prepare(struct vcpu *which)
{
	memset(which->frame, 0, sizeof(*which->frame));
	return which->frame;
}

/* A guest that has started and registered a handler for every vector. */

static u32 *word(u32 address)
{
	return (u32 *)(memory + address);
}

static struct gandalf_shared *page(void)
{
	return (struct gandalf_shared *)(memory + SHARED);
}

static u32 call(u32 number, u32 ebx, u32 ecx)
{
	frame.vector = GANDALF_HYPERCALL_VECTOR;
	frame.eax = number;
	frame.ebx = ebx;
	frame.ecx = ecx;
	hand_on(&vcpu, &frame);
	return frame.eax;
}

static int start(void **state)
{
	(void)state;
	vmm_reset();
	if (memory == NULL) {
		/* Pages before and behind it are absent. */
		assert_true(map_at(LAYOUT_RTOS, MEMORY));
		memory = (void *)(uintptr_t)LAYOUT_RTOS;
	}
	memset(memory, 0, MEMORY);
	memset(&real_tables, 0, sizeof(real_tables));
	memset(real_tables.tss.bitmap, 0xff, sizeof(real_tables.tss.bitmap));
	room = longest = since_pause = admitted = interrupt_at = 0;
	written_count = typed_first = typed_count = 0;
	core.fpu_owner = &vcpu;
	guest.memory_base = 0x123000;
	guest.memory_size = MEMORY;
	vm.entry = CODE;
	guest.priority = PRIORITY;
	guest.interrupts = 0x8080;
	guest.port_range_count = 2;
	guest.port_ranges[0] = (struct gandalf_port_range){ 0x300, 0x301 };
	guest.port_ranges[1] = (struct gandalf_port_range){ 0x378, 0x378 };
	/* None of its ranges: there are two. */
	guest.port_ranges[2] = (struct gandalf_port_range){ 0x60, 0x60 };
	vm.console = &console;
	vcpu.tables = &real_tables;
	vm.kind = kind_linked(GANDALF_KIND_RTOS);
	hypercalls_give(&vcpu);
	assert_true(vm.kind->create(&vm));
	assert_int_equal(asked.deadline->priority, PRIORITY);
	vcpu.operations->start(&vcpu);
	for (u32 i = 0; i < GANDALF_VECTORS; i++)
		*word(TABLE + i * 4) = HANDLER(i);
	assert_int_equal(call(GANDALF_HYPERCALL_HANDLERS, TABLE, 0), 0);
	frame.esp = STACK;
	frame.eip = CODE;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	vcpu.operations->stop(&vcpu);
	return 0;
}

static void deliver(void)
{
	vcpu.operations->deliver(&vcpu);
}

static void enable(void)
{
	page()->interrupt_flag = GANDALF_INTERRUPT_FLAG;
}

static void expire_at(u64 now)
{
	processor.tsc = now;
	while (asked.deadline->time <= now)
		asked.deadline->time = asked.deadline->expire(asked.deadline);
}

#endif
