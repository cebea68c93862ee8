/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-upcalls.elf, for a dedicated CPU: a kernel whose timer interrupts the VMM at
 * its work for it. Its handlers return as they should, return otherwise, have more work done, or
 * never come back. It dies in one, is to be started again, does all that once more, and switches
 * the machine off with work of the VMM left suspended.
 *
 * Its stack is where Linux has it, in the upper quarter of the address space. Below that shadows
 * come and go, and an interrupt whose frame finds none is lost: the controller takes it for
 * served.
 */
#include "machine.h"
#include "suite.h"

/* No handler below takes as long as a tick: the next would come where it returns to, for ever. */
#define HZ 2000
/* Of the VMM: no selector for a guest. */
#define VMM_CODE 0x100
/* Its first stack. */
#define VMM_STACK 0xfc011000
#define VMM_STACK_TOP 0xfc013000
/* So many pieces of the VMM's work are suspended at most (UPCALL_DEPTH). */
#define DEPTH 3
#define ENOUGH 20
/* Ticks until which enough must have come. */
#define TICKS 4000
#define PAGES 1024

static volatile uint32_t upcalls; /* ticks that came in the middle of the VMM's work */
static volatile uint32_t level;   /* of these, at work */
static volatile uint32_t deepest;
static volatile uint32_t last_eip;
static volatile uint32_t damaged; /* pieces of work behind which registers had changed */
static void (*volatile in_upcall)(const struct trap_frame *frame);
static void (*volatile job)(void);
/* Where a handler that does not return goes on instead. */
static volatile uint32_t escape_stack, escape_to;

static void tick(struct trap_frame *frame)
{
	port_out(0x20, 0x20);
	if (frame->cs != VMM_CODE)
		return;
	upcalls++;
	last_eip = frame->eip;
	level++;
	if (level > deepest)
		deepest = level;
	if (in_upcall)
		in_upcall(frame);
	level--;
}

static void begin(void (*upcall)(const struct trap_frame *frame))
{
	irq_disable();
	pic_init();
	in_upcall = upcall;
	upcalls = level = deepest = damaged = irq_count[0] = 0;
	irq_hook[0] = tick;
	pic_unmask(1);
	pit_start(HZ);
	/* One that comes during a halt tells the VMM the vectors. */
	irq_wait();
	irq_enable();
}

static void end(void)
{
	irq_disable();
	pit_stop();
	pic_unmask(0);
	expect_equal(damaged, 0);
}

/* Each is long work for the VMM, and leaves the registers as they were. */
static void job_cr4(void)
{
	uint32_t cr4 = cr4_read() ^ CR4_PGE, a = 0x11111111, b = 0x22222222, c = 0x33333333;

	__asm__ volatile("movl %3, %%cr4" : "+b"(a), "+S"(b), "+D"(c) : "a"(cr4) : "memory");
	damaged += a != 0x11111111 || b != 0x22222222 || c != 0x33333333;
}

static void pages_touch(void)
{
	for (uint32_t page = 0; page < PAGES; page += 8)
		damaged += *(volatile uint32_t *)(SCRATCH + page * PAGE_SIZE) !=
			   *(uint32_t *)scratch_frame[page % 4];
}

static void job_flush_pages(void)
{
	uint32_t si = 0x44444444, di = 0x55555555, bp = (uint32_t)page_directory;

	pages_touch();
	__asm__ volatile("int %6"
			 : "+S"(si), "+D"(di), "+b"(bp)
			 : "a"(GANDALF_HYPERCALL_FLUSH), "c"(SCRATCH),
			   "d"(SCRATCH + PAGES * PAGE_SIZE), "i"(GANDALF_HYPERCALL_VECTOR)
			 : "memory");
	damaged += si != 0x44444444 || di != 0x55555555 || bp != (uint32_t)page_directory;
}

/* Has work done until so many more upcalls have come, or time is over. */
static void work(void (*what)(void), uint32_t more)
{
	uint32_t until = upcalls + more, stop = irq_count[0] + TICKS;

	while (upcalls < until && irq_count[0] < stop)
		what();
}

static void test_work_is_interrupted(void)
{
	static void (*const jobs[])(void) = { job_cr4, job_flush_pages };

	for (uint32_t page = 0; page < PAGES; page++)
		scratch_map(page, scratch_frame[page % 4], PAGE_P | PAGE_W | PAGE_A | PAGE_D);
	for (uint32_t i = 0; i < 4; i++)
		*(uint32_t *)scratch_frame[i] = 0xabcd0000 + i;
	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		begin(NULL);
		work(jobs[i], ENOUGH);
		end();
		expect(upcalls >= ENOUGH);
		expect_equal(deepest, 1);
		expect(last_eip >= 0xfc400000);
	}
}

/* The handler has work done, too, until that is interrupted; the last, only once. */
static void go_deeper(const struct trap_frame *frame)
{
	uint32_t before = upcalls;

	(void)frame;
	irq_enable();
	if (level == DEPTH)
		job();
	while (level < DEPTH && upcalls == before && irq_count[0] < TICKS)
		job();
	irq_disable();
}

static void test_handlers_are_interrupted(void)
{
	static void (*const jobs[])(void) = { job_cr4, job_flush_pages };

	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		job = jobs[i];
		begin(go_deeper);
		work(job_cr4, 3 * ENOUGH);
		end();
		expect(upcalls >= 3 * ENOUGH);
		expect(deepest <= DEPTH);
		if (i == 0)
			expect_equal(deepest, DEPTH);
	}
}

static void paging_interrupt(void)
{
	cr0_write(cr0_read() & ~CR0_PG);
	cr0_write(cr0_read() | CR0_PG);
}

/* Other page tables, none, and those of before. */
static void change_tables(const struct trap_frame *frame)
{
	static uint32_t other[1024] __attribute__((aligned(4096)));

	(void)frame;
	for (uint32_t i = 0; i < 1024; i++)
		other[i] = page_directory[i];
	cr3_write((uint32_t)other);
	pages_touch();
	if (upcalls % 4 == 0)
		stack_move(-KERNEL_HALF, paging_interrupt);
	pages_flush(page_directory, 0, 0xffffffff);
	cr3_write((uint32_t)page_directory);
	pages_touch();
}

static void test_tables_change_meanwhile(void)
{
	static void (*const jobs[])(void) = { job_cr4, job_flush_pages };

	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		begin(change_tables);
		work(jobs[i], ENOUGH);
		end();
		expect(upcalls >= ENOUGH);
	}
}

/* An IRET to where the VMM was interrupted, from where it does not say so. */
static void forge(const struct trap_frame *frame)
{
	uint32_t eip = frame == NULL ? last_eip : frame->eip;

	trap.count = 0;
	__asm__ volatile("movl $1f, trap_resume\n\t"
			 "pushfl\n\tpushl %0\n\tpushl %1\n\tiret\n"
			 "1:\taddl $12, %%esp\n\tmovl $0, trap_resume"
			 :
			 : "i"(VMM_CODE), "r"(eip)
			 : "cc", "memory");
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
	expect_equal(trap.error, VMM_CODE);
}

static void test_returns_are_forged(void)
{
	begin(NULL);
	work(job_cr4, 1);
	end();
	/* Nothing is suspended. */
	forge(NULL);
	begin(forge);
	work(job_cr4, ENOUGH);
	end();
	expect(upcalls >= ENOUGH);
}

/* Leaves the handler, and what it interrupted, for good. */
static void escape(const struct trap_frame *frame)
{
	(void)frame;
	__asm__ volatile("movl %0, %%esp\n\tjmp *%1" : : "r"(escape_stack), "r"(escape_to));
}

static void __attribute__((noinline)) work_and_escape(void)
{
	__asm__ volatile("pushal\n\t"
			 "movl %%esp, %0\n\t"
			 "movl $1f, %1\n\t"
			 "call *%2\n"
			 "1:\tpopal"
			 : "+m"(escape_stack), "+m"(escape_to)
			 : "r"(job)
			 : "memory");
}

/* The VMM's stacks can be written by ring 1 through a segment that reaches so far, as any that
 * threads use does, but not while something is on them. */
static uint32_t write_traps(uint32_t address)
{
	trap.count = 0;
	__asm__ volatile("movl %0, %%es\n\t"
			 "movl $1f, trap_resume\n\t"
			 "movl %%eax, %%es:(%1)\n"
			 "1:\tmovl $0, trap_resume\n\t"
			 "movl %2, %%es"
			 :
			 : "r"(TLS_FIRST * 8 | 3), "r"(address), "r"(USER_DATA), "a"(0)
			 : "memory");
	return trap.count != 0 ? trap.vector : 0;
}

static void write_stacks(const struct trap_frame *frame)
{
	(void)frame;
	for (uint32_t address = VMM_STACK; address < VMM_STACK_TOP; address += 0x80)
		expect_equal(write_traps(address), VECTOR_PF);
}

static void test_what_is_suspended_cannot_be_written(void)
{
	gdt[TLS_FIRST] = descriptor_make(0, 0xffffffff, DESCRIPTOR_DATA(3), DESCRIPTOR_PAGES);
	gdt_register_load();
	expect_equal(write_traps(VMM_STACK), 0);
	begin(write_stacks);
	work(job_cr4, 2);
	end();
	expect(upcalls >= 2);
	expect_equal(write_traps(VMM_STACK), 0);
}

static void job_until_upcall(void)
{
	work(job_cr4, 1);
}

/* What is suspended then stays so: when there is no room for more, ticks come in between. */
static void test_handlers_that_never_return(void)
{
	job = job_until_upcall;
	for (uint32_t i = 1; i <= DEPTH; i++) {
		begin(escape);
		work_and_escape();
		end();
		expect_equal(upcalls, 1);
	}
	begin(NULL);
	while (irq_count[0] < 100)
		job_flush_pages();
	end();
	expect_equal(upcalls, 0);
}

static void die(const struct trap_frame *frame)
{
	static const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) empty = { 0, 0 };

	(void)frame;
	__asm__ volatile("lidt %0\n\tint3" : : "m"(empty));
}

static bool second_run;
static bool passed;

static void tests_run(void)
{
	static const struct tap_test tests[] = {
		{ "work-is-interrupted", test_work_is_interrupted },
		{ "handlers-are-interrupted", test_handlers_are_interrupted },
		{ "tables-change-meanwhile", test_tables_change_meanwhile },
		{ "returns-are-forged", test_returns_are_forged },
		{ "what-is-suspended-cannot-be-written", test_what_is_suspended_cannot_be_written },
		{ "handlers-that-never-return", test_handlers_that_never_return },
	};
	/* The last leaves no room for an upcall. */
	const struct tap_group group = { tests, sizeof(tests) / sizeof(tests[0]) - !second_run };

	passed = tap_run("pc-upcalls", &group, 1);
	if (passed && !second_run) {
		begin(die);
		work(job_cr4, 1);
	}
}

void suite_run(void)
{
	tables_load();
	paging_enable();
	kernel_half_map();
	second_run = is_second_run();
	stack_move(KERNEL_HALF, tests_run);
	machine_off(passed && second_run);
}
