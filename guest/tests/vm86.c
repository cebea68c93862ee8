/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: an RTOS that enters virtual-8086 mode by an IRET with EFLAGS.VM, as QEMU lets it in
 * ring 1 and no CPU does. There it executes what its linear address space has at 1 MiB and below,
 * which is not its own; where the IRET did something else, it is stopped for that.
 */
#include "guest.h"
#include "print.h"

#define EFLAGS_VM 0x20000
#define SEGMENT 0x2001

void main(void)
{
	print("vm86: an IRET with EFLAGS.VM\n");
	/* From the top: GS, FS, DS, ES, SS, ESP, EFLAGS, CS, EIP. */
	__asm__ volatile("pushl $0\n\tpushl $0\n\tpushl %0\n\tpushl $0\n\tpushl %0\n\t"
			 "pushl $0x800\n\tpushl %1\n\tpushl %0\n\tpushl $0\n\tiret"
			 :
			 : "i"(SEGMENT), "i"(EFLAGS_VM | 0x202)
			 : "memory");
	print("FAIL vm86: it was let pass\n");
}
