/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux guest at work in ring 1, for tests of what the VMM does with its
 * instructions and its frames: descriptor tables as Linux has them, in linear.h's
 * memory.
 */
#ifndef GANDALF_FAKE_LINUX_H
#define GANDALF_FAKE_LINUX_H

#include "guests/x86/linux.h"
#include "guests/x86/x86.h"
#include "guests/x86/inject.h"
#include "fake/linear.h"
#include "fake/policy.h"
#include "fake/vmm.h"

#define GDT 0x10000u
#define IDT 0x11000u
#define TSS 0x12000u
#define STACK 0x14800u
#define CODE 0x15000u
#define DATA 0x16000u
#define ENTRY_STACK 0x17800u
#define HANDLER(vector) (0xc1000000u + 16 * (vector))
#define KERNEL_CODE 0x60u
#define KERNEL_STACK 0x68u
#define USER_CODE 0x73u
#define USER_DATA 0x7bu
#define TASK 0x80u

static struct x86 x86;
static struct segment_tables real_tables;

static void put_descriptor(u32 table, u32 index, u64 value)
{
	linear_put(table + index * 8, &value, sizeof(value));
}

static void put_word(u32 address, u32 value)
{
	linear_put(address, &value, sizeof(value));
}

static u32 word(u32 address)
{
	u32 value;

	memcpy(&value, linear_at(address), sizeof(value));
	return value;
}

/* type: with P and DPL, as in bits 40 to 47. */
static void put_gate(u32 vector, u32 type)
{
	put_descriptor(IDT, vector, (HANDLER(vector) & 0xffff) | (u64)KERNEL_CODE << 16 |
					    (u64)type << 40 |
					    (u64)(HANDLER(vector) >> 16) << 48);
}

static void linux_reset(void)
{
	vmm_reset();
	memset(&x86, 0, sizeof(x86));
	memset(&real_tables, 0, sizeof(real_tables));
	memset(linear_bytes, 0, sizeof(linear_bytes));
	memset(linear_absent, 0, sizeof(linear_absent));
	memset(linear_read_only, 0, sizeof(linear_read_only));
	memset(empty_directory, 0, sizeof(empty_directory));
	linear_questions = linear_asked = 0;
	x86.vm = &vm;
	x86.vcpu = &vcpu;
	vcpu.x86 = &x86;
	policy_set(&x86, &fake_shared);
	vcpu.tables = &real_tables;
	x86.gdt_base = GDT;
	x86.gdt_limit = 255;
	x86.idt_base = IDT;
	x86.idt_limit = 2047;
	put_descriptor(GDT, KERNEL_CODE / 8, segment_descriptor(0, 0xffffffff, 0x9a, true));
	put_descriptor(GDT, KERNEL_STACK / 8, segment_descriptor(0, 0xffffffff, 0x92, true));
	put_descriptor(GDT, USER_CODE / 8, segment_descriptor(0, 0xffffffff, 0xfa, true));
	put_descriptor(GDT, USER_DATA / 8, segment_descriptor(0, 0xffffffff, 0xf2, true));
	put_descriptor(GDT, TASK / 8, segment_descriptor(TSS, 0x67, 0x89, false));
	for (u32 vector = 0; vector < 256; vector++)
		put_gate(vector, vector == 0x80 ? 0xef : 0x8e);
	put_word(TSS + 4, ENTRY_STACK);
	put_word(TSS + 8, KERNEL_STACK);
	frame.cs = KERNEL_CODE | 1;
	frame.ss = KERNEL_STACK | 1;
	frame.ds = frame.es = USER_DATA;
	frame.eip = CODE;
	frame.esp = STACK;
	frame.eflags = EFLAGS_IF | EFLAGS_FIXED | 0x41;
}

#endif
