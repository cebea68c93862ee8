/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-apic.elf, for a dedicated CPU: a kernel that uses the local APIC, with and
 * without the 8259 pair beside it. It dies with the APIC in disorder, is to be started again,
 * finds all as it was, and switches the machine off.
 */
#include "machine.h"
#include "suite.h"

/* Of the VMM: no selector for a guest. */
#define VMM_CODE 0x100
#define ENOUGH 20
/* Interrupts until which enough must have come. */
#define TICKS 2000
/* Where the pages of SCRATCH are once more. */
#define KERNEL_SCRATCH 0xe0000000U

#define MSR_APIC_BASE 0x1b
#define BASE 0xfee00000U
#define BASE_ENABLE 0x800U
#define BASE_X2 0x400U
#define CPUID_APIC (1U << 9)

enum {
	VERSION = 0x30, TASK_PRIORITY = 0x80, END = 0xb0, SPURIOUS = 0xf0, IN_SERVICE = 0x100,
	COMMAND = 0x300, LVT_TIMER = 0x320, LVT_LINT0 = 0x350, LVT_LINT1 = 0x360, LVT_ERROR = 0x370,
	INITIAL_COUNT = 0x380, CURRENT_COUNT = 0x390, DIVIDE = 0x3e0,
};
#define MASKED 0x10000U
#define PERIODIC 0x20000U
#define EXTINT 0x700U
#define SELF 0x40000U
#define SPURIOUS_AT_START 0x1ffU
/* One priority beside another. */
#define VECTOR_TIMER 0x31
#define VECTOR_SELF 0x41
#define HZ 1500
#define PIT_HZ_HERE 1100

static volatile uint32_t ticks, selves; /* interrupts of the APIC */
/* Upcalls of its timer and of the PIT, that the VMM was hit by. */
static volatile uint32_t upcalls, pit_upcalls;
/* Handlers whose controller had nothing in service, or that came twice. */
static volatile uint32_t wrong;
static volatile uint32_t nested;
static volatile bool in_timer, in_pit;
static void (*volatile in_upcall)(void);
static uint32_t period;

static volatile uint32_t *apic(uint32_t offset)
{
	return (volatile uint32_t *)(KERNEL_SCRATCH + offset);
}

static uint32_t apic_read(uint32_t offset)
{
	return *apic(offset);
}

static void apic_write(uint32_t offset, uint32_t value)
{
	__asm__ volatile("movl %1, %0" : "=m"(*apic(offset)) : "r"(value) : "memory");
}

static bool serves(uint32_t vector)
{
	return apic_read(IN_SERVICE + vector / 32 * 0x10) >> vector % 32 & 1;
}

static void more(struct trap_frame *frame)
{
	wrong += !serves(frame->vector);
	if (frame->vector == VECTOR_SELF) {
		selves++;
	} else {
		ticks++;
		wrong += in_timer;
		in_timer = true;
		if (frame->cs == VMM_CODE) {
			upcalls++;
			nested += in_pit;
			if (in_upcall && !in_pit)
				in_upcall();
		}
		in_timer = false;
	}
	apic_write(END, 0);
}

static void pit_tick(struct trap_frame *frame)
{
	wrong += in_pit || (pic_in_service() & 1) == 0;
	in_pit = true;
	if (frame->cs == VMM_CODE) {
		pit_upcalls++;
		nested += in_timer;
		if (in_upcall && !in_timer)
			in_upcall();
	}
	in_pit = false;
}

static void job(void)
{
	cr4_write(cr4_read() ^ CR4_PGE);
}

/* Has work done until so many more have come, or time is over. */
static void work(volatile uint32_t *what, uint32_t more_of_it)
{
	uint32_t until = *what + more_of_it, stop = ticks + TICKS;

	while (*what < until && ticks < stop)
		job();
}

static void begin(uint32_t lint0, void (*upcall)(void))
{
	irq_disable();
	in_upcall = upcall;
	ticks = selves = upcalls = pit_upcalls = wrong = nested = 0;
	apic_write(LVT_LINT0, lint0);
	apic_write(LVT_TIMER, PERIODIC | VECTOR_TIMER);
	apic_write(INITIAL_COUNT, period);
	irq_enable();
}

static void end(void)
{
	irq_disable();
	apic_write(LVT_TIMER, MASKED | VECTOR_TIMER);
	apic_write(INITIAL_COUNT, 0);
	irq_enable();
	irq_disable();
	expect_equal(wrong, 0);
}

static uint64_t msr_read(uint32_t index)
{
	uint64_t value;

	__asm__ volatile("rdmsr" : "=A"(value) : "c"(index));
	return value;
}

static void msr_write(uint32_t index, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(index), "A"(value));
}

static void test_it_is_where_it_is(void)
{
	uint32_t eax = 1, edx;
	uint64_t base = msr_read(MSR_APIC_BASE);

	__asm__ volatile("cpuid" : "+a"(eax), "=d"(edx) : : "ebx", "ecx");
	expect(edx & CPUID_APIC);
	expect_equal((uint32_t)base & (0xfffff000 | BASE_ENABLE | BASE_X2), BASE | BASE_ENABLE);
	msr_write(MSR_APIC_BASE, 0);
	msr_write(MSR_APIC_BASE, base | BASE_X2);
	msr_write(MSR_APIC_BASE, base + PAGE_SIZE);
	expect_equal((uint32_t)msr_read(MSR_APIC_BASE), (uint32_t)base);
	expect(apic_read(VERSION) & 0xff);
	expect(apic_read(VERSION) != 0xffffffff);
	expect_equal(*(volatile uint32_t *)(SCRATCH + VERSION), apic_read(VERSION));
	/* Also after a restart. */
	expect_equal(apic_read(SPURIOUS), SPURIOUS_AT_START);
	expect_equal(apic_read(TASK_PRIORITY), 0);
	expect_equal(apic_read(LVT_LINT0) & (EXTINT | MASKED), EXTINT);
	for (uint32_t i = 0; i < 8; i++)
		expect_equal(apic_read(IN_SERVICE + i * 0x10), 0);
}

static void test_stores_of_all_kinds(void)
{
	*(volatile uint32_t *)(SCRATCH + INITIAL_COUNT) = 0;
	__asm__ volatile("movl $0x20, %0" : "=m"(*apic(TASK_PRIORITY)));
	expect_equal(apic_read(TASK_PRIORITY), 0x20);
	__asm__ volatile("movl %%eax, %c0"
			 :
			 : "i"(KERNEL_SCRATCH + TASK_PRIORITY), "a"(0)
			 : "memory");
	expect_equal(apic_read(TASK_PRIORITY), 0);
}

/* NMI, SMI, INIT and exceptions; nothing for other processors. */
static void test_what_must_not_come_is_refused(void)
{
	static const uint16_t lvts[] = { LVT_TIMER, LVT_LINT0, LVT_LINT1, LVT_ERROR };
	static const uint32_t refused[] = { 0x240, 0x440, 0x540, 0x10, 0x1e, 0x2f };
	/* INIT to all others and to all; start-up; NMI and SMI to itself; an exception. */
	static const uint32_t commands[] = { 0xc4500, 0x84500, 0xc4610, 0x40400, 0x40200, 0x4000d,
					     0x4041, 0x80041, 0xc0041 };
	uint32_t command;

	for (uint32_t i = 0; i < sizeof(lvts) / sizeof(lvts[0]); i++) {
		for (uint32_t j = 0; j < sizeof(refused) / sizeof(refused[0]); j++) {
			apic_write(lvts[i], refused[j]);
			expect_equal(apic_read(lvts[i]) & MASKED, MASKED);
		}
		apic_write(lvts[i], EXTINT);
		expect_equal(apic_read(lvts[i]) & MASKED, lvts[i] == LVT_LINT0 ? 0 : MASKED);
	}
	irq_disable();
	apic_write(COMMAND, SELF | VECTOR_SELF);
	command = apic_read(COMMAND);
	for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		apic_write(COMMAND, commands[i]);
		expect_equal(apic_read(COMMAND), command);
	}
	apic_write(SPURIOUS, 0x11f);
	expect_equal(apic_read(SPURIOUS), SPURIOUS_AT_START);
	/* An INIT, in QEMU. */
	apic_write(0, 0x4500);
	apic_write(COMMAND + 4, 0x4500);
	selves = wrong = 0;
	irq_enable();
	irq_disable();
	expect_equal(selves, 1);
	expect_equal(wrong, 0);
}

static void test_its_timer_interrupts(void)
{
	uint32_t count, flags;

	begin(EXTINT, NULL);
	while (ticks < ENOUGH)
		;
	count = apic_read(CURRENT_COUNT);
	expect(count <= period);
	apic_write(COMMAND, SELF | VECTOR_SELF);
	flags = selves;
	end();
	expect_equal(flags, 1);
}

/* Each that comes during a halt is given once, and ended by the guest. */
static void test_its_timer_wakes(void)
{
	begin(EXTINT, NULL);
	for (uint32_t i = 1; i <= ENOUGH; i++) {
		irq_wait();
		expect(ticks >= i);
		expect(ticks <= i + 2);
	}
	end();
}

/* Nobody has told the vectors of the 8259s, and the halts before did not. */
static void test_unknown_vectors_stay_out(void)
{
	begin(EXTINT, NULL);
	while (ticks < 100)
		job();
	end();
	expect_equal(upcalls, 0);
}

static void test_the_vmm_is_interrupted(void)
{
	begin(MASKED, NULL);
	work(&upcalls, ENOUGH);
	end();
	expect(upcalls >= ENOUGH);
	begin(EXTINT, NULL);
	while (ticks < 100)
		job();
	end();
	expect_equal(upcalls, 0);
}

/* Before the end of its own interrupt it has more work done, until the other controller's comes.
 * Pauses of ever other lengths keep the work from being in step with that one's clock. Not each
 * time: it may last longer than its own period, and what it interrupts must get on. */
static void wait_for_other(void)
{
	static uint32_t random = 1;
	static bool waited;
	uint32_t before = nested;

	waited = !waited;
	if (!waited)
		return;
	irq_enable();
	for (uint32_t i = 0; i < 100 && nested == before; i++) {
		random = random * 1103515245 + 12345;
		for (volatile uint32_t pause = random >> 22; pause != 0; pause--)
			;
		job();
	}
	irq_disable();
}

static void test_both_controllers_interrupt(void)
{
	irq_hook[0] = pit_tick;
	pic_init();
	pic_unmask(1);
	pit_start(PIT_HZ_HERE);
	irq_count[0] = 0;
	/* One that comes during a halt tells the VMM the vectors. */
	for (uint32_t i = 0; i < ENOUGH; i++)
		irq_wait();
	expect(irq_count[0] >= ENOUGH - 1);
	begin(EXTINT, NULL);
	work(&pit_upcalls, ENOUGH);
	work(&upcalls, ENOUGH);
	end();
	expect(pit_upcalls >= ENOUGH);
	expect(upcalls >= ENOUGH);
	begin(EXTINT, wait_for_other);
	work(&nested, ENOUGH);
	end();
	expect(nested >= ENOUGH);
	pit_stop();
	pic_unmask(0);
}

/* With two interrupts in service, two that wait, a timer that goes on, and all others kept out. */
static void die(struct trap_frame *frame)
{
	static const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) empty = { 0, 0 };

	if (frame->vector == VECTOR_TIMER) {
		apic_write(COMMAND, SELF | VECTOR_SELF);
		irq_enable();
		for (;;)
			;
	}
	apic_write(COMMAND, SELF | 0x35);
	apic_write(COMMAND, SELF | 0xf1);
	apic_write(LVT_ERROR, 0x36);
	apic_write(LVT_LINT0, MASKED);
	apic_write(DIVIDE, 3);
	apic_write(TASK_PRIORITY, 0xf0);
	apic_write(SPURIOUS, 0x7f);
	__asm__ volatile("lidt %0\n\tint3" : : "m"(empty));
}

static bool second_run;
static bool passed;

static void period_measure(void)
{
	apic_write(DIVIDE, 0xb);
	apic_write(LVT_TIMER, MASKED);
	apic_write(INITIAL_COUNT, 0xffffffff);
	pit_delay(10000);
	period = (0xffffffff - apic_read(CURRENT_COUNT)) / (HZ / 100);
	apic_write(INITIAL_COUNT, 0);
}

static void tests_run(void)
{
	static const struct tap_test tests[] = {
		{ "it-is-where-it-is", test_it_is_where_it_is },
		{ "stores-of-all-kinds", test_stores_of_all_kinds },
		{ "what-must-not-come-is-refused", test_what_must_not_come_is_refused },
		{ "its-timer-interrupts", test_its_timer_interrupts },
		{ "its-timer-wakes", test_its_timer_wakes },
		{ "unknown-vectors-stay-out", test_unknown_vectors_stay_out },
		{ "the-vmm-is-interrupted", test_the_vmm_is_interrupted },
		{ "both-controllers-interrupt", test_both_controllers_interrupt },
	};
	const struct tap_group group = { tests, sizeof(tests) / sizeof(tests[0]) };

	more_hook = more;
	idt_open(VECTOR_TIMER);
	idt_open(VECTOR_SELF);
	period_measure();
	passed = tap_run("pc-apic", &group, 1);
	if (!passed || second_run)
		return;
	more_hook = die;
	begin(EXTINT, NULL);
	for (;;)
		;
}

void suite_run(void)
{
	tables_load();
	paging_enable();
	kernel_half_map();
	page_directory[KERNEL_SCRATCH / LARGE_PAGE_SIZE] =
		page_directory[SCRATCH / LARGE_PAGE_SIZE];
	scratch_map(0, (void *)BASE, PAGE_P | PAGE_W | PAGE_A | PAGE_D);
	second_run = is_second_run();
	stack_move(KERNEL_HALF, tests_run);
	machine_off(passed && second_run);
}
