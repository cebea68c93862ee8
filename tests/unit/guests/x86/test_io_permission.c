/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process accesses a port: the VMM does it if the I/O permission bitmap of the guest's own task
 * state segment permits each of its ports, and gives the guest the #GP if not.
 */
#include "unit.h"

#include "emulate_at.h"

/* Where the segment has its bitmap, and the bytes of that, with the one of ones behind it. */
#define BITMAP 0x68u
#define BITMAP_BYTES 0x2001u
#define LIMIT (BITMAP + BITMAP_BYTES - 1)
/* Two pages behind TSS are STACK's, so this one has a place of its own. */
#define OWN_TSS 0x18000u
#define PORT 0x3fdu

/* IN and OUT with the port in DX, of 1, 2 and 4 bytes. */
static const char *const in[] = {"\xec\x90", "\x66\xed", "\xed\x90"};
static const char *const out[] = {"\xee\x90", "\x66\xef", "\xef\x90"};

static void put_bytes(u32 address, u8 value, u32 count)
{
	for (u32 i = 0; i < count; i++)
		linear_put(address + i, &value, 1);
}

static void task_set(u32 limit, u32 offset)
{
	put_descriptor(GDT, TASK / 8, segment_descriptor(OWN_TSS, limit, 0x89, false));
	put_word(OWN_TSS + 0x64, offset << 16);
	put_word(OWN_TSS + 4, ENTRY_STACK);
	put_word(OWN_TSS + 8, KERNEL_STACK);
	x86.tr = TASK;
	x86.tss_base = OWN_TSS;
}

/* A process whose kernel permits it nothing. */
static int begin(void **state)
{
	start(state);
	task_set(LIMIT, BITMAP);
	put_bytes(OWN_TSS + BITMAP, 0xff, BITMAP_BYTES);
	port_value = 0xdeadbeef;
	return 0;
}

static void port_permit(u32 port, bool permitted)
{
	u32 at = OWN_TSS + BITMAP + port / 8;
	u8 byte = *(u8 *)linear_at(at);

	byte = (u8)((byte & ~(1u << port % 8)) | (permitted ? 0 : 1u << port % 8));
	linear_put(at, &byte, 1);
}

static void process_execute(const char *code, u32 port, u32 error)
{
	frame.cs = USER_CODE;
	frame.ss = USER_DATA;
	frame.esp = STACK;
	frame.eax = 0x11223344;
	frame.edx = port;
	port_reads = port_writes = 0;
	fault_at(code, 2, error);
}

static void expect_done(const char *code, u32 port, u32 size)
{
	process_execute(code, port, 0);
	assert_int_equal(frame.eip, CODE + 1 + (code[0] == '\x66'));
	assert_int_equal(frame.cs, USER_CODE);
	assert_int_equal(port_number, port);
	assert_int_equal(port_size, size);
	assert_int_equal(port_reads + port_writes, 1);
	assert_int_equal(asked.stops, 0);
}

static void expect_fault(const char *code, u32 port, u32 error)
{
	process_execute(code, port, error);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
	assert_int_equal(word(frame.esp), error);
	assert_int_equal(word(frame.esp + 4), CODE);
	assert_int_equal(frame.eax, 0x11223344);
	assert_int_equal(port_reads + port_writes, 0);
	assert_int_equal(asked.stops, 0);
}

static void a_port_that_is_permitted_is_used(void **state)
{
	(void)state;
	for (u32 i = 0; i < 4; i++)
		port_permit(PORT + i, true);
	for (u32 i = 0; i < ARRAY_SIZE(in); i++) {
		expect_done(in[i], PORT, 1u << i);
		assert_int_equal(port_reads, 1);
		expect_done(out[i], PORT, 1u << i);
		assert_int_equal(port_written, 0x11223344);
	}
	process_execute(in[0], PORT, 0);
	assert_int_equal(frame.eax, 0x112233ef);
	/* The upper half of EDX names no port. */
	process_execute(in[0], 0xffff0000 | PORT, 0);
	assert_int_equal(port_number, PORT);
	process_execute("\xe4\x80", PORT, 0);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
	port_permit(0x80, true);
	process_execute("\xe4\x80", PORT, 0);
	assert_int_equal(frame.eip, CODE + 2);
	assert_int_equal(port_number, 0x80);
}

static void all_ports_of_an_access_must_be_permitted(void **state)
{
	(void)state;
	for (u32 port = PORT - 8; port < PORT + 8; port++) {
		for (u32 denied = 0; denied < 4; denied++) {
			for (u32 i = 0; i < 4; i++)
				port_permit(port + i, i != denied);
			for (u32 i = 0; i < ARRAY_SIZE(in); i++) {
				if (denied < 1u << i)
					expect_fault(in[i], port, 0);
				else
					expect_done(in[i], port, 1u << i);
			}
		}
		for (u32 i = 0; i < 4; i++)
			port_permit(port + i, false);
	}
}

/* The CPU reads two bytes, and both must be within the limit; so Linux has one more behind it. */
static void what_is_behind_the_limit_is_denied(void **state)
{
	(void)state;
	port_permit(0xffff, true);
	expect_done(in[0], 0xffff, 1);
	expect_fault(in[1], 0xffff, 0);
	put_bytes(OWN_TSS + BITMAP, 0, BITMAP_BYTES);
	expect_done(in[0], PORT, 1);
	task_set(BITMAP + PORT / 8 + 1, BITMAP);
	expect_done(in[0], PORT, 1);
	task_set(BITMAP + PORT / 8, BITMAP);
	expect_fault(in[0], PORT, 0);
	task_set(LIMIT, 0xffff);
	expect_fault(in[0], PORT, 0);
	task_set(LIMIT, LIMIT);
	expect_fault(in[0], 0, 0);
}

static void without_a_task_state_segment_nothing_is_permitted(void **state)
{
	(void)state;
	put_bytes(OWN_TSS + BITMAP, 0, BITMAP_BYTES);
	expect_done(in[0], PORT, 1);
	x86.tss_base = 0;
	frame.esp = STACK;
	real_tables.tss.esp1 = ENTRY_STACK;
	process_execute(in[0], PORT, 0);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
	assert_int_equal(port_reads, 0);
}

/* A hostile kernel can say that its segment is anywhere. */
static void a_segment_that_cannot_be_read_permits_nothing(void **state)
{
	(void)state;
	put_bytes(OWN_TSS + BITMAP, 0, BITMAP_BYTES);
	x86.gdt_base = 0xfc400000;
	process_execute(in[0], PORT, 0);
	assert_int_equal(port_reads, 0);
	x86.gdt_base = GDT;
	linear_absent[(OWN_TSS - LINEAR_FIRST) / PAGE_SIZE] = true;
	process_execute(in[0], PORT, 0);
	assert_int_equal(port_reads, 0);
	linear_absent[(OWN_TSS - LINEAR_FIRST) / PAGE_SIZE] = false;
	x86.tss_base = GANDALF_BASE - PAGE_SIZE - 1;
	process_execute(in[0], PORT, 0);
	assert_int_equal(port_reads, 0);
}

static void nothing_else_is_done_for_a_process(void **state)
{
	static const char *const others[] = {"\xfa\x90", "\xf4\x90", "\xcf\x90", "\x6c\x90",
					     "\x6e\x90", "\x0f\x06", "\xf0\xec"};

	(void)state;
	put_bytes(OWN_TSS + BITMAP, 0, BITMAP_BYTES);
	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		expect_fault(others[i], PORT, 0);
	expect_fault(in[0], PORT, 0x58); /* a selector is the reason, not the port */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST_PORT(name) cmocka_unit_test_setup(name, begin)
		TEST_PORT(a_port_that_is_permitted_is_used),
		TEST_PORT(all_ports_of_an_access_must_be_permitted),
		TEST_PORT(what_is_behind_the_limit_is_denied),
		TEST_PORT(without_a_task_state_segment_nothing_is_permitted),
		TEST_PORT(a_segment_that_cannot_be_read_permits_nothing),
		TEST_PORT(nothing_else_is_done_for_a_process),
	};

	return RUN_TESTS(tests);
}
