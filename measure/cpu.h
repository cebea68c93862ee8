/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated CPU, looked at from outside: its registers, and when it delivers an interrupt. */
#ifndef GANDALF_MEASURE_CPU_H
#define GANDALF_MEASURE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include <string.h>

#include "qemu.h"

#define EFLAGS_IF 0x200u
/* QEMU's own flags: the privilege level, the shadow of STI and of a load of SS, 64-bit code. */
#define HFLAGS_RING 0x3u
#define HFLAGS_SHADOW 0x8u
#define HFLAGS_CODE64 0x8000u

enum delivery {
	DELIVERY_NONE,
	DELIVERY_EXCEPTION, /* or INT n: an instruction caused it */
	DELIVERY_HARDWARE,
};

/*
 * Pointers into QEMU's state of the CPU. EFLAGS (the condition codes apart), QEMU's flags and the
 * segments are up to date before each instruction, EIP where a block begins and between blocks.
 * Of EFLAGS the low half is all that is looked at. EIP, ESP and the base of CS are words.
 */
struct cpu {
	struct qemu_cpu *qemu;
	size_t word; /* 4, or 8 in qemu-system-x86_64, whatever mode its CPU is in */
	const void *eip, *esp, *cs_base;
	const uint32_t *eflags, *hflags, *cs, *cs_limit;
};

extern struct cpu cpu;

static inline uint64_t cpu_word(const void *at)
{
	uint64_t wide;
	uint32_t narrow;

	if (cpu.word == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

static inline uint32_t cpu_ring(void)
{
	return *cpu.hflags & HFLAGS_RING;
}

static inline bool cpu_code64(void)
{
	return *cpu.hflags & HFLAGS_CODE64;
}

/* QEMU's flags of the CPU whose thread, or whose turn, this is: not always the one in cpu. Null if
 * that cannot be told, since it has no local APIC. */
const uint32_t *cpu_current_hflags(void);

/* The linear address of the next instruction; as good as EIP is. */
static inline uint64_t cpu_linear(void)
{
	uint64_t linear = cpu_word(cpu.eip) + cpu_word(cpu.cs_base);

	return cpu_code64() ? linear : (uint32_t)linear;
}

/* Called around each delivery: with NONE before, and after with what was delivered, if anything. */
typedef void cpu_delivery(enum delivery what, uint32_t from_ring);

/* Both return what is wrong, or a null pointer. word: as in struct cpu. */
const char *cpu_find(int index, size_t word, cpu_delivery *delivery);
const char *cpu_verify(void);

/* A field of QEMU's state of the CPU by the name with which it is saved; null if there is none. */
const void *cpu_field(const char *name, size_t size);

/* When the local APIC's timer, started once, expires or has expired: QEMU's virtual time. 0: it was
 * never started, or there is none. On the CPU's thread only. */
int64_t cpu_timer_expiry(void);

#endif
