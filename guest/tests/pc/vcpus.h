/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vCPUs of a test kernel that has several: how the first one starts others, and how they
 * interrupt each other (vcpus.c). All share the tables of the first.
 */
#ifndef VCPUS_H
#define VCPUS_H

#include "apic.h"
#include "machine.h"

#define VCPUS_MAXIMUM 8U
/* Vectors that one vCPU can send to another. */
#define IPIS (256 - GANDALF_IPI_FIRST)

/* Registers of the local APIC. */
enum {
	APIC_ID = 0x20, APIC_VERSION = 0x30, APIC_PRIORITY = 0x80, APIC_END = 0xb0,
	APIC_SPURIOUS = 0xf0, APIC_COMMAND = 0x300, APIC_DESTINATION = 0x310, APIC_TIMER = 0x320,
	APIC_ERROR = 0x370, APIC_COUNT = 0x380,
};

/* The index of the vCPU that asks, which is its local APIC's ID. */
uint32_t own_index(void);
volatile uint32_t *apic_register(uint32_t offset);
/* Interrupts vCPUs, by the bits of their indices. Returns what the VMM says. */
int32_t ipi_send(uint32_t ids, uint32_t ipi);
/* Ticks of the time stamp counter. */
uint64_t milliseconds(uint32_t count);

/* Prepares the kernel and its first vCPU: tables, paging, and a handler of the interrupts by other
 * vCPUs. */
void vcpus_begin(void (*handler)(struct trap_frame *frame));
/* Starts another vCPU, or the same one anew, which executes `begin` with interrupts enabled. Before
 * a different one is started it must be there. Returns what the VMM says. */
int32_t vcpu_start(uint32_t index, void (*begin)(void));

#endif
