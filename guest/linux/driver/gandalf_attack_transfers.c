// SPDX-License-Identifier: GPL-2.0-only
/* Attacks by transfers of control, which are far calls and jumps, gates and IRET. */
#include <linux/string.h>
#include <asm/asm.h>
#include <asm/desc.h>

#include "gandalf_attack.h"

struct far_pointer {
	u32 offset;
	u16 selector;
} __packed;

/*
 * The transfers arrive here, where the code selector is noted. `landing` is called and returns;
 * `arrival` is jumped to and leaves by the way back that was kept.
 */
asm(".pushsection .text\n"
    "gandalf_attack_landing:\n\t"
    "movl %cs, %eax\n\t"
    "lret\n"
    "gandalf_attack_arrival:\n\t"
    "movl %cs, %eax\n\t"
    "ljmp *gandalf_attack_back\n"
    ".popsection\n");
extern const char gandalf_attack_landing[], gandalf_attack_arrival[];
struct far_pointer gandalf_attack_back;

static u32 far_call(u32 selector, u32 offset, u32 *code)
{
	struct far_pointer target = { .offset = offset, .selector = selector };
	u32 faulted = 1;

	TRY(faulted, "1: lcall *%[t]", [c] "=&a" (*code), [t] "m" (target));
	return faulted;
}

static u32 far_jump(u32 selector, u32 offset, u32 *code)
{
	struct far_pointer target = { .offset = offset, .selector = selector };
	u32 faulted = 1;

	TRY(faulted,
	    "movl $3f, gandalf_attack_back\n\t"
	    "movw %%cs, gandalf_attack_back + 4\n\t"
	    "1: ljmp *%[t]\n"
	    "3:", [c] "=&a" (*code), [t] "m" (target));
	return faulted;
}

static u32 landing_offset(const struct request *request, const char *otherwise)
{
	return request->arguments > 1 ? request->argument[1] : (u32)otherwise;
}

static enum outcome attack_far_call(struct request *request)
{
	u32 offset = landing_offset(request, gandalf_attack_landing);

	return outcome_of(far_call(request->argument[0], offset, &request->value), OUTCOME_READ);
}

static enum outcome attack_far_jump(struct request *request)
{
	u32 offset = landing_offset(request, gandalf_attack_arrival);

	return outcome_of(far_jump(request->argument[0], offset, &request->value), OUTCOME_READ);
}

/* Tries every selector as the target of a far call and a far jump, and looks whether any leads to
 * ring 0. */
static enum outcome attack_far_all(struct request *request)
{
	u32 selector, code;

	for (selector = 0; selector < SELECTORS; selector++) {
		if ((!far_call(selector, (u32)gandalf_attack_landing, &code) && !(code & 3)) ||
		    (!far_jump(selector, (u32)gandalf_attack_arrival, &code) && !(code & 3))) {
			request->value = selector;
			return OUTCOME_READ;
		}
	}
	return OUTCOME_FAULT;
}

static struct desc_struct gate_descriptor_of(u32 selector, u32 offset, u32 type)
{
	u32 low = selector << 16 | (offset & 0xffff);
	u32 high = (offset & 0xffff0000) | 0x8000 | 3 << 13 | type << 8;
	struct desc_struct gate;

	memcpy(&gate, &low, sizeof(low));
	memcpy((u8 *)&gate + sizeof(low), &high, sizeof(high));
	return gate;
}

static enum outcome attack_gate(struct request *request, u32 type)
{
	struct desc_struct kept = get_cpu_gdt_rw(smp_processor_id())[SPARE_ENTRY];
	u32 offset = landing_offset(request, gandalf_attack_landing);
	struct desc_struct gate = gate_descriptor_of(request->argument[0], offset, type);
	u32 faulted;

	attack_store_descriptor(SPARE_ENTRY, gate);
	faulted = far_call(SPARE_SELECTOR, 0, &request->value);
	attack_store_descriptor(SPARE_ENTRY, kept);
	return outcome_of(faulted, OUTCOME_READ);
}

static enum outcome attack_call_gate(struct request *request)
{
	return attack_gate(request, GATE_CALL);
}

static enum outcome attack_task_gate(struct request *request)
{
	return attack_gate(request, GATE_TASK);
}

/* Makes an IRET to a code selector and flags of one's choice, and reads the flags that it
 * leaves. */
static enum outcome attack_iret(struct request *request)
{
	u32 faulted = 1;
	u32 stack;

	TRY_AND_CLEAN(faulted,
		      "movl %%esp, %[s]\n\t"
		      "pushl %[f]\n\t"
		      "pushl %[c]\n\t"
		      "pushl $3f\n\t"
		      "1: iret\n"
		      "3: pushf\n\t"
		      "popl %[v]",
		      "movl %[s], %%esp",
		      BOTH([v] "=&r" (request->value), [s] "=&r" (stack)),
		      [c] "r" (request->argument[0]), [f] "r" (request->argument[1]));
	return outcome_of(faulted, OUTCOME_READ);
}

const struct attack transfer_attacks[] = {
	{ "far-call", "SELECTOR [OFFSET]", false, 1, attack_far_call },
	{ "far-jump", "SELECTOR [OFFSET]", false, 1, attack_far_jump },
	{ "far-all", "", false, 0, attack_far_all },
	{ "call-gate", "SELECTOR [OFFSET]", false, 1, attack_call_gate },
	{ "task-gate", "SELECTOR", false, 1, attack_task_gate },
	{ "iret", "SELECTOR FLAGS", false, 2, attack_iret },
	{ NULL },
};
