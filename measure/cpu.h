/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated CPU, looked at from outside: its registers, and when it delivers an interrupt. */
#ifndef GANDALF_MEASURE_CPU_H
#define GANDALF_MEASURE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu.h"

#define EFLAGS_IF 0x200u
/* QEMU's own flags: the privilege level, and the shadow of STI and of a load of SS. */
#define HFLAGS_RING 0x3u
#define HFLAGS_SHADOW 0x8u

enum delivery {
	DELIVERY_NONE,
	DELIVERY_EXCEPTION, /* or INT n: an instruction caused it */
	DELIVERY_HARDWARE,
};

/*
 * Pointers into QEMU's state of the CPU. EFLAGS (the condition codes apart), QEMU's flags and the
 * segments are up to date before each instruction, EIP where a block begins and between blocks.
 */
struct cpu {
	struct qemu_cpu *qemu;
	const uint32_t *eip, *esp, *eflags, *hflags, *cs, *cs_base;
};

extern struct cpu cpu;

static inline uint32_t cpu_ring(void)
{
	return *cpu.hflags & HFLAGS_RING;
}

/* The linear address of the next instruction; as good as EIP is. */
static inline uint32_t cpu_linear(void)
{
	return *cpu.eip + *cpu.cs_base;
}

/* Called around each delivery: with NONE before, and after with what was delivered, if anything. */
typedef void cpu_delivery(enum delivery what, uint32_t from_ring);

/* Both return what is wrong, or a null pointer. */
const char *cpu_find(int index, cpu_delivery *delivery);
const char *cpu_verify(void);

#endif
