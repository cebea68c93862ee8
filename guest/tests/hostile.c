/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: a hostile RTOS. It tries to read and write everything outside its
 * memory through every segment register, to jump there, and to execute every
 * privileged instruction. Each attempt must raise an exception, in this guest.
 */
#include "guest.h"
#include "print.h"

#define SS 12
#define GP 13
#define PF 14
#define PF_USER 4 /* in the error code: the access was not the VMM's */
#define STEP 0x100000 /* between two attempts */

static void check_outside(uint32_t offset)
{
	if (!expect_equal(exception.count, 1))
		print("# offset 0x%x\n", offset);
	if (exception.vector == PF && cpu_ring() == 3) {
		expect(exception.error & PF_USER);
		expect(shared_page->cr2 - offset < 4);
		return;
	}
	expect(exception.vector == GP || exception.vector == SS);
	expect_equal(exception.error, 0);
}

#define ATTACK(segment) \
	static void write_##segment(uint32_t offset) \
	{ \
		EXCEPTION_PROVOKE("movl $0x21646162, %%" #segment ":(%0)", \
				  : : "r"(offset) : "memory"); \
	} \
	static void read_##segment(uint32_t offset) \
	{ \
		EXCEPTION_PROVOKE("movl %%" #segment ":(%0), %%eax", \
				  : : "r"(offset) : "eax", "memory"); \
	}

ATTACK(cs)
ATTACK(ds)
ATTACK(es)
ATTACK(fs)
ATTACK(gs)
ATTACK(ss)

/* The first word outside, one that is half outside, and steps up to the end of
 * the address space, where the offsets wrap around to what lies below. */
static void attack(void (*access)(uint32_t offset))
{
	uint32_t size = shared_page->memory_size;

	if (!emulator_stops_outside()) {
		tap_skip("QEMU does not enforce segment limits");
		return;
	}
	access(size);
	check_outside(size);
	access(size - 2);
	check_outside(size - 2);
	for (uint32_t offset = size + STEP; offset > size; offset += STEP) {
		access(offset);
		check_outside(offset);
	}
	access(0xfffffffc);
	check_outside(0xfffffffc);
}

#define TEST(segment) \
	static void test_write_##segment(void) \
	{ \
		attack(write_##segment); \
	} \
	static void test_read_##segment(void) \
	{ \
		attack(read_##segment); \
	}

TEST(cs)
TEST(ds)
TEST(es)
TEST(fs)
TEST(gs)
TEST(ss)

/* CS may be read and not written, inside as well. */
static void test_write_own_code(void)
{
	if (emulator_is_qemu()) {
		tap_skip("QEMU does not enforce read-only segments");
		return;
	}
	write_cs((uint32_t)&exception);
	check_outside((uint32_t)&exception);
}

static void access_string(uint32_t offset)
{
	EXCEPTION_PROVOKE("rep stosl", : "+D"(offset) : "a"(0), "c"(16) : "memory");
}

static void test_string(void)
{
	attack(access_string);
}

static void jump_far(uint32_t offset)
{
	const struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) target = { offset, GANDALF_RTOS_CODE };

	EXCEPTION_PROVOKE("ljmp *%0", : : "m"(target) : "memory");
}

/* Checked by every emulator, unlike running past the end. */
static void test_jump(void)
{
	uint32_t size = shared_page->memory_size;

	jump_far(size);
	check_outside(size);
	for (uint32_t offset = size + STEP; offset > size; offset += STEP) {
		jump_far(offset);
		check_outside(offset);
	}
}

#define PRIVILEGED(text, ...) \
	do { \
		EXCEPTION_PROVOKE(text, : : __VA_ARGS__ : "eax", "ecx", "edx", "memory"); \
		if (!expect_equal(exception.count, 1)) \
			print("# %s\n", text); \
		expect_equal(exception.vector, GP); \
		expect_equal(exception.error, 0); \
	} while (0)

static void test_privileged_tables(void)
{
	static const uint8_t table[6];

	PRIVILEGED("lgdt %0", "m"(table));
	PRIVILEGED("lidt %0", "m"(table));
	PRIVILEGED("lldt %w0", "r"(0));
	PRIVILEGED("ltr %w0", "r"(0x110));
}

static void test_privileged_control(void)
{
	PRIVILEGED("movl %%cr0, %%eax", "r"(0));
	PRIVILEGED("movl %0, %%cr0", "r"(0x60000010));
	PRIVILEGED("movl %%cr2, %%eax", "r"(0));
	PRIVILEGED("movl %%cr3, %%eax", "r"(0));
	PRIVILEGED("movl %0, %%cr3", "r"(0));
	PRIVILEGED("movl %0, %%cr4", "r"(0));
	PRIVILEGED("movl %%dr0, %%eax", "r"(0));
	PRIVILEGED("movl %0, %%dr7", "r"(0x455));
	PRIVILEGED("lmsw %w0", "r"(0));
	PRIVILEGED("clts", "r"(0));
	PRIVILEGED("invlpg (%0)", "r"(0));
	PRIVILEGED("wbinvd", "r"(0));
	PRIVILEGED("movl $0x10, %%ecx\n\trdmsr", "r"(0));
	PRIVILEGED("movl $0x174, %%ecx\n\txorl %%eax, %%eax\n\txorl %%edx, %%edx\n\twrmsr", "r"(0));
}

static void test_privileged_interrupts(void)
{
	PRIVILEGED("cli", "r"(0));
	PRIVILEGED("sti", "r"(0));
	PRIVILEGED("hlt", "r"(0));
}

static void test_ports(void)
{
	PRIVILEGED("inb $0x21, %%al", "r"(0));
	PRIVILEGED("outb %%al, $0x21", "r"(0));
	PRIVILEGED("movl $0x40, %%edx\n\tinw %%dx, %%ax", "r"(0));
	PRIVILEGED("movl $0xcf8, %%edx\n\toutl %%eax, %%dx", "r"(0));
	PRIVILEGED("movl $0xf4, %%edx\n\toutb %%al, %%dx", "r"(0));
	PRIVILEGED("movl $0xffff, %%edx\n\toutb %%al, %%dx", "r"(0));
}

/* POPF and IRET leave IF and IOPL as they are, and none of them raises anything. */
static void test_flags(void)
{
	uint32_t flags;

	__asm__ volatile("pushl $0x3002\n\tpopfl\n\tpushfl\n\tpopl %0" : "=r"(flags) : : "cc");
	expect_equal(flags & 0x3200, 0x200);
}

#define NAMES(segment) \
	{ "write-" #segment, test_write_##segment }, { "read-" #segment, test_read_##segment }

static const struct tap_test tests[] = {
	{ "privileged-tables", test_privileged_tables },
	{ "privileged-control", test_privileged_control },
	{ "privileged-interrupts", test_privileged_interrupts },
	{ "ports", test_ports },
	{ "flags", test_flags },
	{ "jump", test_jump },
	{ "write-own-code", test_write_own_code },
	{ "string", test_string },
	NAMES(cs),
	NAMES(ds),
	NAMES(es),
	NAMES(fs),
	NAMES(gs),
	NAMES(ss),
};

static const struct tap_group group = TAP_GROUP(tests);

void main(void)
{
	handlers_install();
	tap_run("hostile", &group, 1);
}
