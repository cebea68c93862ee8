/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out the emulator; see emulator.h.
 */
#include "emulator.h"

#include <stdint.h>

#include "cpu.h"

/* The leaf in which an emulator gives its name, and the beginning of QEMU's
 * "TCGTCGTCGTCG". Without an emulator EBX is something else. */
#define CPUID_HYPERVISOR 0x40000000
#define CPUID_TCG 0x54474354

bool emulator_is_qemu(void)
{
	uint32_t a = CPUID_HYPERVISOR, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return b == CPUID_TCG;
}

bool emulator_stops_outside(void)
{
	return cpu_ring() == 3 || !emulator_is_qemu();
}
