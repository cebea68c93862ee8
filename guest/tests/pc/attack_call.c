/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attack of pc-attack.elf: a system call whose kernel has another stack in its TSS than it could
 * have, or has its TSS elsewhere.
 *
 *	system-call ESP0 SS0 FLAGS TSS
 *
 * FLAGS: those of the process behind POPF, of which TF has it step. TSS: where it is; 0: where it
 * was. Then one word behind the other there are ESP0 and SS0, if they can be written.
 */
#include "attack.h"

#include "print.h"

#define OPCODE_PUSH 0x68
#define OPCODE_POPF 0x9d
#define INT_80 0x80cd
#define UD2 0x0b0f

static struct {
	uint8_t push;
	uint32_t flags;
	uint8_t popf;
	uint16_t call, behind;
} __attribute__((packed)) text __attribute__((section(".user"), aligned(16)));

static void task_move(uint32_t base)
{
	gdt[TASK_STATE / 8] = descriptor_make(base, sizeof(task_state) - 1, DESCRIPTOR_TASK, 0);
	__asm__ volatile("ltr %w0" : : "r"(TASK_STATE) : "memory");
}

static void attack_call(const uint32_t *arguments)
{
	/* The direct way knows the TSS and the stack if they are in the kernel's half, as Linux's,
	 * and have been used there. */
	const uint32_t task = KERNEL_HALF + (uint32_t)&task_state;
	volatile struct task_state *const state = (struct task_state *)task;

	text.push = OPCODE_PUSH;
	text.flags = arguments[2];
	text.popf = OPCODE_POPF;
	text.call = INT_80;
	text.behind = UD2;
	state->esp0 += KERNEL_HALF;
	*(volatile uint32_t *)(state->esp0 - sizeof(uint32_t)) = 0;
	task_move(task);
	/* The VMM has shown this process before, and its kernel has returned. */
	user_trap((const char *)&text);
	print("before: trap %u\n", trap.vector);
	state->esp0 = arguments[0];
	state->ss0 = arguments[1];
	if (arguments[3] != 0)
		task_move(arguments[3]);
	user_trap((const char *)&text);
	print("behind: trap %u, SS 0x%x\n", trap.vector, trap.ss);
}

const struct attack attacks_call[] = { { "system-call", attack_call }, { 0 } };
