/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's 64 MiB of every linear address space, 4 MiB (one page-directory
 * entry) at a time. All of it is read-only for guests: CR0.WP is 1 while Linux
 * runs; the VMM's own code writes with WP 0. Also read by the assembler.
 */
#pragma once

#include "abi/gandalf.h"

/* Where the boot loader puts the VMM, and where it is linked: the first 4 MiB
 * of physical memory appear at LAYOUT_IMAGE as one large page. */
#define LAYOUT_PHYSICAL 0x00100000
#define LAYOUT_IMAGE 0xFC400000

/* These 4 MiB are private to each vCPU with address spaces of its own. They hold its shared page,
 * the alias of that, and the two pages of its VMM stack, which is all that can be written with
 * WP 1. The page below the stack is not mapped. The stacks of upcalls follow
 * (guests/x86/upcall.c). A stack that holds suspended work is read-only while the guest runs. */
#define LAYOUT_VCPU 0xFC000000
#define LAYOUT_STACK 0xFC011000
#define LAYOUT_STACK_TOP 0xFC013000

/* The VMM boots on this stack, which becomes the idle vCPU's. */
#define BOOT_STACK_SIZE 4096

/* Another CPU begins at this page below 1 MiB, in real mode (start.S). */
#define LAYOUT_START 0x8000

/* Windows of one page each, through which the VMM sees physical memory, begin here (memory.c). */
#define LAYOUT_WINDOWS 0xFC800000
/* These pages have a fixed purpose: source and destination of a copy, and the local APIC. */
#define LAYOUT_FIXED 0xFCC00000
#define LAYOUT_COPY_FROM 0xFCC00000
#define LAYOUT_COPY_TO 0xFCC01000
#define LAYOUT_APIC 0xFCC02000
/* The outboxes of all cores lie here, some pages each (core/message.h). */
#define LAYOUT_OUTBOXES 0xFCC10000

/* The memory of all RTOSes begins here, one behind the other. */
#define LAYOUT_RTOS 0xFD000000
/* The pool's frames are seen here: shadow page tables, stacks, descriptor tables. */
#define LAYOUT_POOL 0xFF000000

/* The VMM's part begins with this entry of a page directory. */
#define LAYOUT_DIRECTORY_FIRST 0x3f0

/* These are the VMM's selectors in the real descriptor tables. A guest's own entries keep their
 * indices, and the VMM's follow, at the same place for every guest. */
#define SELECTOR_VMM_CODE 0x100
#define SELECTOR_VMM_DATA 0x108
#define SELECTOR_TSS 0x110
#define SELECTOR_LDT 0x118

/* Vectors of the VMM's interrupts: 16 of the 8259 pair, then those of the local APIC. The timer's
 * comes before messages, of which others can send as many as they like. Of these, doorbells and
 * interrupts that a guest's vCPUs send each other come last. All are before those by which devices
 * interrupt a Linux that has the CPU to itself, and none is one that its APIC has. */
#define VECTOR_PIC 0x20
#define VECTOR_APIC_IPI 0xf0
#define VECTOR_APIC_DOORBELL 0xf1
#define VECTOR_APIC_MESSAGE 0xf2
#define VECTOR_APIC_TIMER 0xf3
#define VECTOR_APIC_SPURIOUS 0xff
/* The first that such a Linux may give its local APIC; it may give it none of messages, either. */
#define VECTOR_APIC_GUEST 0x30
