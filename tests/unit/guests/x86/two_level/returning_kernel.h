/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that returns to its processes where the VMM alone is privileged, for the tests of what
 * becomes of its IRETs. */
#pragma once

#include "unit.h"

#include <string.h>

#include "views.h"
#include "core/core.h"
#include "guests/x86/emulate.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"

#define IRET 0xcf
#define INT3 0xcc
#define NOP 0x90
#define PLACES 8u

static struct vm vm;
static struct vcpu vcpu;
static struct segment_tables tables;
static struct frame frame;
static struct x86 x86;
/* The kernel's code and stack. */
static u8 code[64] __attribute__((aligned(4)));
static u32 stack[5];
/* Its address space, in which all memory is where the host has it. */
static u32 directory[1024] __attribute__((aligned(4096)));
u32 pool_distance;
static unsigned served, stops, faults;
static u32 fault_error;
static bool possible;

/* Stand-ins for the rest of the VMM. */

bool emulation_begin(struct emulation *e, struct x86 *which)
{
	memset(e, 0, sizeof(*e));
	e->x86 = which;
	e->decoded.operation = *(u8 *)frame.eip == IRET ? DECODED_IRET : DECODED_HLT;
	return true;
}

enum emulated emulate_iret(const struct emulation *e)
{
	assert_int_equal(e->decoded.operand_size, 4);
	served++;
	return possible ? EMULATED_JUMP : EMULATED_FAULT;
}

/*
 * Own stand-ins: entry_copy() and guest_read() have the host's memory; inject_page_fault()
 * is not called; inject_general_protection() and vm_stop() are what a return may come to.
 */
bool guest_read(u32 linear, void *to, u32 size)
{
	memcpy(to, (const void *)(uintptr_t)linear, size);
	return true;
}

void inject_general_protection(struct x86 *which, u32 error)
{
	(void)which;
	faults++;
	fault_error = error;
}

void inject_page_fault(struct x86 *which, u32 linear, u32 error)
{
	(void)which;
	(void)linear;
	(void)error;
	fail();
}

/* What write_byte_or_fail() does here. */
u32 entry_copy(void *to, const void *from, u32 size)
{
	memcpy(to, from, size);
	return 0;
}

void vm_stop(struct vm *which, const char *pattern, ...)
{
	(void)which;
	assert_non_null(strstr(pattern, "too many places"));
	stops++;
}

static u32 place(unsigned number)
{
	return (u32)(uintptr_t)&code[number * 5 + 1];
}

static int begin(void **state)
{
	(void)state;
	memset(&vcpu, 0, sizeof(vcpu));
	memset(code, NOP, sizeof(code));
	for (unsigned i = 0; i <= PLACES; i++)
		*(u8 *)(uintptr_t)place(i) = IRET;
	served = stops = faults = 0;
	possible = true;
	vcpu.tables = &tables;
	tables.user_code = VIEW_SWITCH_USER_BIT;
	x86.vcpu = &vcpu;
	x86.vm = &vm;
	vcpu.cr3 = (u32)(uintptr_t)directory - pool_distance;
	for (u32 i = 0; i < 1024; i++)
		directory[i] = i << LARGE_PAGE_SHIFT | PTE_P | PTE_W | PTE_PS;
	x86.shadow.memory_base = 0;
	x86.shadow.memory_size = GANDALF_BASE;
	x86.shadow.protected_frame = SHADOW_NO_FRAME;
	frame.esp = (u32)(uintptr_t)stack;
	views_forget_returns();
	return 0;
}

static bool trap(unsigned vector, u32 eip)
{
	frame.vector = vector;
	frame.eip = eip;
	return views_return(&x86, &frame);
}
