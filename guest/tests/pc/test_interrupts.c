/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupt flag in all its forms, the 8259 pair, and the chips that
 * interrupt through it.
 */
#include "machine.h"
#include "suite.h"

#define HZ 1000
#define PIT_CONTROL 0x43
#define PIT_CHANNEL_0 0x40
#define PIT_0_ONCE 0x38 /* both bytes, mode 4, as Linux's one-shot events */

#define UART_INTERRUPTS 0x3f9
#define UART_IDENTIFY 0x3fa
#define UART_MODEM_CONTROL 0x3fc
#define UART_OUT2 0x08
#define UART_TRANSMIT 0x02

#define CMOS_INDEX 0x70
#define CMOS_DATA 0x71
#define RTC_A 0x0a
#define RTC_B 0x0b
#define RTC_C 0x0c
#define RTC_D 0x0d
#define RTC_1024_HZ 0x26
#define RTC_PERIODIC 0x40

static volatile struct {
	uint32_t in_service, cs, eflags, eip;
	bool flag;
} seen;

static void note(struct trap_frame *frame)
{
	seen.in_service = pic_in_service();
	seen.cs = frame->cs;
	seen.eflags = frame->eflags;
	seen.eip = frame->eip;
	seen.flag = irq_enabled();
}

static void begin(void)
{
	irq_disable();
	pic_init();
	irq_hook[0] = note;
	for (uint32_t i = 0; i < 16; i++)
		irq_count[i] = 0;
}

static void end(void)
{
	irq_disable();
	pit_stop();
	pic_unmask(0);
	irq_hook[0] = NULL;
}

/* Until the PIT's interrupt waits at the PIC. */
static bool wait_for_request(void)
{
	for (uint32_t ms = 0; ms < 20; ms++) {
		pit_delay(1000);
		if (pic_request() & 1)
			return true;
	}
	return false;
}

static void test_halt(void)
{
	begin();
	pic_unmask(1);
	pit_start(HZ);
	for (uint32_t i = 1; i <= 10; i++) {
		irq_wait();
		irq_disable();
		expect(irq_count[0] >= i);
	}
	expect_equal(seen.in_service & 1, 1);
	expect_equal(seen.cs & ~3U, KERNEL_CODE);
	expect(!seen.flag);
	end();
}

static void test_frequency(void)
{
	uint64_t start;
	uint32_t ms = time_stamps_per_ms(), ticks;

	begin();
	pic_unmask(1);
	pit_start(HZ);
	irq_wait();
	start = time_stamp();
	while (irq_count[0] < 51)
		irq_wait();
	ticks = (uint32_t)(time_stamp() - start);
	expect(ticks > 40 * ms);
	expect(ticks < 80 * ms);
	end();
}

static void test_deferred(void)
{
	begin();
	pic_unmask(1);
	pit_start(HZ);
	expect(wait_for_request());
	expect_equal(irq_count[0], 0);
	irq_enable();
	expect(irq_count[0] >= 1);
	end();
}

static void test_deferred_sti(void)
{
	uint32_t count;

	begin();
	pic_unmask(1);
	pit_start(HZ);
	expect(wait_for_request());
	__asm__ volatile("sti\n\tnop\n\tmovl %1, %0" : "=r"(count) : "m"(irq_count[0]) : "memory");
	expect(count >= 1);
	end();
}

/* The store of the patched Linux, in each form that a compiler may choose. */
static void test_deferred_store(void)
{
	volatile uint32_t *alias = &SHARED_ALIAS->interrupt_flag;

	if (environment != SHARED) {
		tap_skip("the interrupt flag is real");
		return;
	}
	begin();
	pic_unmask(1);
	pit_start(HZ);
	expect(wait_for_request());
	__asm__ volatile("movl %0, %1" : : "i"(GANDALF_INTERRUPT_FLAG),
			 "m"(*(uint32_t *)GANDALF_SHARED_ALIAS) : "memory");
	expect_equal(irq_count[0], 1);
	irq_disable();
	expect(wait_for_request());
	__asm__ volatile("movl %0, (%1)" : : "r"(GANDALF_INTERRUPT_FLAG), "r"(alias) : "memory");
	expect(irq_count[0] >= 2);
	irq_disable();
	end();
}

/* Disabling and enabling with nothing waiting, many times: one store each. */
static void test_nested(void)
{
	begin();
	for (uint32_t i = 0; i < 1000; i++) {
		irq_enable();
		expect(irq_enabled());
		irq_disable();
		expect(!irq_enabled());
	}
	__asm__ volatile("sti");
	expect(irq_enabled());
	__asm__ volatile("cli");
	expect(!irq_enabled());
	end();
}

static void test_while_running(void)
{
	begin();
	pic_unmask(1);
	pit_start(HZ);
	irq_enable();
	for (uint32_t i = 0; i < 20 && irq_count[0] < 3; i++)
		pit_delay(1000);
	expect(irq_count[0] >= 3);
	expect_equal(seen.eflags & EFLAGS_INTERRUPT, EFLAGS_INTERRUPT);
	expect(irq_enabled());
	end();
}

static void test_masked(void)
{
	begin();
	pit_start(HZ);
	irq_enable();
	expect(wait_for_request());
	pit_delay(3000);
	expect_equal(irq_count[0], 0);
	pic_unmask(1);
	__asm__ volatile("nop");
	expect(irq_count[0] >= 1);
	end();
}

static void test_once(void)
{
	const uint32_t count = PIT_HZ / HZ;

	begin();
	pic_unmask(1);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t before;

		port_out(PIT_CONTROL, PIT_0_ONCE);
		/* Its output goes high with the new mode, which may interrupt. */
		irq_enable();
		pit_delay(1000);
		before = irq_count[0];
		port_out(PIT_CHANNEL_0, (uint8_t)count);
		port_out(PIT_CHANNEL_0, (uint8_t)(count >> 8));
		pit_delay(5000);
		irq_disable();
		expect_equal(irq_count[0], before + 1);
	}
	end();
}

static void test_in_service(void)
{
	begin();
	pic_unmask(1);
	pit_start(HZ);
	irq_wait();
	irq_disable();
	expect_equal(seen.in_service, 1);
	expect_equal(pic_in_service(), 0);
	end();
}

/* A loop that would notice if an interrupt changed any register. */
static void test_registers(void)
{
	uint32_t good;

	begin();
	pic_unmask(1);
	pit_start(HZ);
	irq_enable();
	__asm__ volatile("pushl %%ebp\n"
			 "1:\tmovl $0x11111111, %%eax\n\tmovl $0x22222222, %%ebx\n\t"
			 "movl $0x33333333, %%edx\n\tmovl $0x44444444, %%esi\n\t"
			 "movl $0x55555555, %%edi\n\tmovl $0x66666666, %%ebp\n\t"
			 "movl $1000, %%ecx\n\tstc\n"
			 "2:\tjnc 3f\n\tdecl %%ecx\n\tjnz 2b\n\t"
			 "cmpl $0x11111111, %%eax\n\tjne 3f\n\t"
			 "cmpl $0x22222222, %%ebx\n\tjne 3f\n\t"
			 "cmpl $0x33333333, %%edx\n\tjne 3f\n\t"
			 "cmpl $0x44444444, %%esi\n\tjne 3f\n\t"
			 "cmpl $0x55555555, %%edi\n\tjne 3f\n\t"
			 "cmpl $0x66666666, %%ebp\n\tjne 3f\n\t"
			 "cmpl $10, irq_count\n\tjb 1b\n\tmovl $1, %%eax\n\tjmp 4f\n"
			 "3:\txorl %%eax, %%eax\n4:\tpopl %%ebp"
			 : "=a"(good) : : "ebx", "ecx", "edx", "esi", "edi", "memory", "cc");
	expect_equal(good, 1);
	end();
}

static void cmos_write(uint8_t index, uint8_t value)
{
	port_out(CMOS_INDEX, index);
	port_out(CMOS_DATA, value);
}

static uint8_t cmos_read(uint8_t index)
{
	port_out(CMOS_INDEX, index);
	return port_in(CMOS_DATA);
}

static volatile uint8_t rtc_status;

static void rtc_note(struct trap_frame *frame)
{
	(void)frame;
	rtc_status = cmos_read(RTC_C);
}

/* 1024 interrupts a second, through the second 8259. Returns what register B held. */
static uint8_t rtc_begin(void)
{
	uint8_t before;

	begin();
	before = cmos_read(RTC_B);
	cmos_write(RTC_A, RTC_1024_HZ);
	cmos_write(RTC_B, before | RTC_PERIODIC);
	cmos_read(RTC_C);
	pic_unmask(1 << 8);
	irq_enable();
	return before;
}

static void rtc_wait(uint32_t interrupts)
{
	for (uint32_t i = 0; i < 50 && irq_count[8] < interrupts; i++)
		pit_delay(1000);
}

static void rtc_end(uint8_t before)
{
	cmos_write(RTC_B, before);
	irq_disable();
	cmos_read(RTC_C);
	irq_hook[8] = NULL;
	end();
}

static void test_rtc(void)
{
	uint8_t before;

	irq_hook[8] = rtc_note;
	before = rtc_begin();
	rtc_wait(8);
	expect(irq_count[8] >= 8);
	expect_equal(rtc_status & (RTC_PERIODIC | 0x80), RTC_PERIODIC | 0x80);
	rtc_end(before);
}

/* Nobody reads register C: then the next interrupt comes if each acknowledges itself only. */
static void test_rtc_automatic(void)
{
	uint32_t count;
	uint8_t before;

	if (environment != SHARED) {
		tap_skip("the clock is a real one");
		return;
	}
	cmos_write(RTC_D, GANDALF_RTC_AUTOMATIC);
	expect_equal(cmos_read(RTC_D), 0x80 | GANDALF_RTC_AUTOMATIC);
	before = rtc_begin();
	rtc_wait(8);
	expect(irq_count[8] >= 8);
	expect_equal(cmos_read(RTC_C), 0);
	/* Without it there is one more. */
	cmos_write(RTC_D, 0);
	for (uint32_t i = 0; i < 4; i++)
		pit_delay(1000);
	count = irq_count[8];
	for (uint32_t i = 0; i < 4; i++)
		pit_delay(1000);
	expect_equal(irq_count[8], count);
	expect_equal(cmos_read(RTC_C) & (RTC_PERIODIC | 0x80), RTC_PERIODIC | 0x80);
	rtc_end(before);
}

/* The transmitter is empty: the UART says so at once when it may. */
static void test_uart(void)
{
	begin();
	port_out(UART_MODEM_CONTROL, UART_OUT2 | 3);
	pic_unmask(1 << 4);
	irq_enable();
	port_out(UART_INTERRUPTS, UART_TRANSMIT);
	for (uint32_t i = 0; i < 20 && !irq_count[4]; i++)
		pit_delay(1000);
	expect(irq_count[4] >= 1);
	port_out(UART_INTERRUPTS, 0);
	port_in(UART_IDENTIFY);
	end();
}

static const struct tap_test interrupts_tests[] = {
	{ "interrupts-halt", test_halt },
	{ "interrupts-frequency", test_frequency },
	{ "interrupts-deferred", test_deferred },
	{ "interrupts-deferred-sti", test_deferred_sti },
	{ "interrupts-deferred-store", test_deferred_store },
	{ "interrupts-nested", test_nested },
	{ "interrupts-while-running", test_while_running },
	{ "interrupts-masked", test_masked },
	{ "interrupts-once", test_once },
	{ "interrupts-in-service", test_in_service },
	{ "interrupts-registers", test_registers },
	{ "interrupts-rtc", test_rtc },
	{ "interrupts-rtc-automatic", test_rtc_automatic },
	{ "interrupts-uart", test_uart },
};
const struct tap_group group_interrupts = TAP_GROUP(interrupts_tests);
