/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of the test kernel's GDT, which is that of Linux on i386, since the
 * VMM may know it; and of its IDT. Also read by the assembler.
 */
#ifndef SELECTORS_H
#define SELECTORS_H

#define BOOT_CODE 0x10
#define BOOT_DATA 0x18
#define TLS_FIRST 6 /* index of the first of three */
#define KERNEL_CODE 0x60
#define KERNEL_DATA 0x68
#define USER_CODE 0x73
#define USER_DATA 0x7b
#define TASK_STATE 0x80
#define ABSENT_DATA 0x98 /* not present */
#define PER_CPU 0xd8
#define GDT_ENTRIES 32
#define IDT_ENTRIES 256

#define VECTOR_IRQ 0x20
#define VECTOR_SYSTEM_CALL 0x80
/* Stubs: exceptions, IRQs and what more interrupts, then the system call. */
#define VECTOR_MORE 0x30
#define TRAP_STUBS 0x50
#define TRAP_STUB_SIZE 16

#endif
