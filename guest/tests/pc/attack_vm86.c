/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attack of pc-attack.elf: virtual-8086 mode, by an IRET with EFLAGS.VM, which a CPU ignores in
 * ring 1, and QEMU does not. From there exceptions push four words more, and CS is any number.
 *
 *	vm86 CODE CS EFLAGS
 *
 * CODE: two bytes of instructions; without EFLAGS.VM in EFLAGS nothing happens.
 */
#include "attack.h"

#define EFLAGS_VM 0x20000U
/* The page that it runs in and the one of its data, which is not for it; real-mode segments. */
#define CODE_PAGE 0x10U
#define DATA_SEGMENT 0x4000U

static void attack_vm86(const uint32_t *arguments)
{
	uint32_t *table = (uint32_t *)(page_directory[0] & ~(PAGE_SIZE - 1));
	static uint32_t saved;
	uint32_t code = arguments[0], cs = arguments[1];

	*(volatile uint32_t *)(cs * 16) = code;
	table[CODE_PAGE] |= PAGE_U;
	invlpg(CODE_PAGE * PAGE_SIZE);
	/* From the top: GS, FS, DS, ES, SS, ESP, EFLAGS, CS, EIP. */
	trap.count = 0;
	__asm__ volatile("movl %%esp, %0\n\tmovl $1f, trap_resume\n\t"
			 "pushl $0\n\tpushl $0\n\tpushl %1\n\tpushl $0\n\tpushl %2\n\t"
			 "pushl $0x800\n\tpushl %3\n\tpushl %2\n\tpushl $0\n\tiret\n"
			 "1:\tmovl %0, %%esp\n\tmovl $0, trap_resume"
			 : "+m"(saved)
			 : "i"(DATA_SEGMENT), "r"(cs), "r"(arguments[2] | EFLAGS_VM)
			 : "memory", "cc");
}

const struct attack attacks_vm86[] = { { "vm86", attack_vm86 }, { 0 } };
