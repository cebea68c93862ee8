/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The misdeeds themselves. Each leaves its guest in a state of which nothing is
 * expected but that the VMM stops it, names the reason, and nobody else notices.
 */
#include "misdeed.h"

#include <string.h>

#include "emulator.h"
#include "rtos.h"

/* A hypercall number that no version of the interface uses. */
#define HYPERCALL_UNKNOWN 0x7777
/* The VMM's code segment (vmm/arch/ia32/layout.h), which is not a guest's. */
#define SELECTOR_FOREIGN 0x100
/* An offset that wraps around 4 GiB to what lies below the guest's segment. */
#define OFFSET_BELOW 0xfffff000
static struct gandalf_handlers handlers;

static void no_handlers(void)
{
	interrupt_disable();
	timer_start(0);
	handlers = (struct gandalf_handlers){ 0 };
	handlers_register(&handlers);
}

static void commit_bad_hypercall(void)
{
	hypercall(HYPERCALL_UNKNOWN, 0, 0);
}

static void commit_linux_hypercall(void)
{
	hypercall(GANDALF_HYPERCALL_FLUSH, 0, 0);
}

/* Passes a range that begins inside the guest's memory and ends outside. */
static void commit_bad_pointer(void)
{
	hypercall(GANDALF_HYPERCALL_CONSOLE_WRITE, shared_page->memory_size - 4, 64);
}

/* Passes a range whose end wraps around to an offset inside. */
static void commit_wrapping_pointer(void)
{
	hypercall(GANDALF_HYPERCALL_CONSOLE_READ, 0xfffffff0, 64);
}

static void commit_bad_handlers(void)
{
	hypercall(GANDALF_HYPERCALL_HANDLERS, shared_page->memory_size - 4, 0);
}

/* Runs until an interrupt finds no code where its handler should be. */
static void commit_bad_handler(void)
{
	handlers = (struct gandalf_handlers){ 0 };
	handlers.entry[GANDALF_VECTOR_TIMER] = 0xf0000000;
	handlers_register(&handlers);
	timer_start(1000);
	interrupt_wait();
}

static void commit_unknown_instruction(void)
{
	__asm__ volatile("movl %%cr0, %%eax" : : : "eax");
}

static void commit_debug_register(void)
{
	__asm__ volatile("movl %0, %%dr7" : : "r"(0x455));
}

static void commit_port(void)
{
	__asm__ volatile("outb %%al, $0x80" : : "a"(0));
}

static void commit_undefined(void)
{
	no_handlers();
	__asm__ volatile("ud2");
}

static void commit_divide(void)
{
	no_handlers();
	__asm__ volatile("divl %0" : : "r"(0), "a"(1), "d"(0) : "cc");
}

static void commit_bad_selector(void)
{
	no_handlers();
	__asm__ volatile("movw %w0, %%fs" : : "r"(SELECTOR_FOREIGN));
}

static void commit_jump_vmm(void)
{
	no_handlers();
	__asm__ volatile("ljmp %0, $0" : : "i"(SELECTOR_FOREIGN));
}

/* Jumps behind the end of the guest's memory. Every emulator checks the limit of the code segment
 * in a far transfer. */
static void commit_jump_outside(void)
{
	const struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) target = { shared_page->memory_size, GANDALF_RTOS_CODE };

	no_handlers();
	__asm__ volatile("ljmp *%0" : : "m"(target));
}

static void commit_return_vmm(void)
{
	no_handlers();
	__asm__ volatile("pushfl\n\tpushl %0\n\tpushl $0\n\tiret" : : "i"(SELECTOR_FOREIGN));
}

static void commit_triple_fault(void)
{
	handlers = (struct gandalf_handlers){ 0 };
	handlers.entry[6] = (uint32_t)commit_undefined;
	handlers_register(&handlers);
	/* There is no stack for the frame of this #UD. */
	__asm__ volatile("movl %0, %%esp\n\tud2" : : "r"(0xf0000000));
}

/*
 * Fills the memory downwards from the stack and leaves it at the lower end. The
 * loop is one word that pushes itself, so that it outlives its own passing.
 */
static void commit_stack_overflow(void)
{
	no_handlers();
	__asm__ volatile("movl 1f, %%eax\n\t"
			 "jmp 1f\n\t"
			 ".balign 4\n"
			 "1:\tpushl %%eax\n\t"
			 "jmp 1b\n\t"
			 "nop"
			 :
			 :
			 : "eax", "memory");
}

static void commit_write_outside(void)
{
	volatile uint32_t *target = (uint32_t *)shared_page->memory_size;

	no_handlers();
	*target = 0x21646162;
}

#define COMMIT_WRITE_VMM(segment) \
	static void commit_write_vmm_##segment(void) \
	{ \
		no_handlers(); \
		__asm__ volatile("movl %0, %%" #segment ":(%1)" \
				 : \
				 : "r"(0x21646162), "r"(OFFSET_BELOW) \
				 : "memory"); \
	}

COMMIT_WRITE_VMM(cs)
COMMIT_WRITE_VMM(ds)
COMMIT_WRITE_VMM(es)
COMMIT_WRITE_VMM(fs)
COMMIT_WRITE_VMM(gs)
COMMIT_WRITE_VMM(ss)

const struct misdeed misdeeds[] = {
	{ "bad-hypercall", "a hypercall of an unknown number", commit_bad_hypercall, false },
	{ "linux-hypercall", "a hypercall that is Linux's", commit_linux_hypercall, false },
	{ "bad-pointer", "a hypercall with a buffer that ends outside", commit_bad_pointer, false },
	{ "wrapping-pointer", "a hypercall with a buffer that wraps around",
	  commit_wrapping_pointer, false },
	{ "bad-handlers", "a table of handlers outside", commit_bad_handlers, false },
	{ "bad-handler", "an interrupt handler outside", commit_bad_handler, false },
	{ "unknown-instruction", "a privileged instruction", commit_unknown_instruction, false },
	{ "debug-register", "a write to DR7", commit_debug_register, false },
	{ "port", "a write to an I/O port that is not its own", commit_port, false },
	{ "undefined", "an undefined instruction without a handler", commit_undefined, false },
	{ "divide", "a division by zero without a handler", commit_divide, false },
	{ "bad-selector", "loads the selector of another's segment", commit_bad_selector, false },
	{ "jump-vmm", "a far jump into the VMM's segment", commit_jump_vmm, false },
	{ "jump-outside", "a far jump behind the end of its memory", commit_jump_outside, false },
	{ "return-vmm", "an IRET into the VMM's segment", commit_return_vmm, false },
	{ "triple-fault", "an exception with its stack outside", commit_triple_fault, false },
	{ "stack-overflow", "pushes until the stack leaves its memory", commit_stack_overflow,
	  true },
	{ "write-outside", "writes behind the end of its memory", commit_write_outside, true },
	{ "write-vmm-cs", "writes below its memory through CS", commit_write_vmm_cs, true },
	{ "write-vmm-ds", "writes below its memory through DS", commit_write_vmm_ds, true },
	{ "write-vmm-es", "writes below its memory through ES", commit_write_vmm_es, true },
	{ "write-vmm-fs", "writes below its memory through FS", commit_write_vmm_fs, true },
	{ "write-vmm-gs", "writes below its memory through GS", commit_write_vmm_gs, true },
	{ "write-vmm-ss", "writes below its memory through SS", commit_write_vmm_ss, true },
	{ 0 },
};

bool misdeed_possible(const struct misdeed *misdeed)
{
	return !misdeed->needs_limits || emulator_stops_outside();
}

const struct misdeed *misdeed_find(const char *name)
{
	for (const struct misdeed *misdeed = misdeeds; misdeed->name; misdeed++)
		if (!strcmp(misdeed->name, name))
			return misdeed;
	return NULL;
}
