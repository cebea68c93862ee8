/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control, debug and model-specific registers.
 */
#include "machine.h"
#include "suite.h"

#define MSR_TSC 0x10
#define MSR_UNKNOWN 0x12345

static void test_cr0(void)
{
	uint32_t before = cr0_read();

	expect_equal(before & CR0_PE, CR0_PE);
	cr0_write(before | CR0_TS | CR0_MP | CR0_NE);
	expect_equal(cr0_read(), before | CR0_TS | CR0_MP | CR0_NE);
	cr0_write((before | CR0_MP | CR0_NE) & ~CR0_TS);
	expect_equal(cr0_read() & CR0_TS, 0);
}

#define READ_THROUGH(register) \
	do { \
		uint32_t value; \
		__asm__ volatile("movl %%cr0, %%" #register "\n\tmovl %%" #register ", %0" \
				 : "=m"(value) : : #register); \
		expect_equal(value, wanted); \
	} while (0)

#define WRITE_THROUGH(register) \
	do { \
		__asm__ volatile("movl %0, %%" #register "\n\tmovl %%" #register ", %%cr2" \
				 : : "i"(__LINE__) : #register); \
		expect_equal(cr2_read(), __LINE__); \
	} while (0)

static void test_registers(void)
{
	uint32_t wanted = cr0_read();

	READ_THROUGH(eax);
	READ_THROUGH(ebx);
	READ_THROUGH(ecx);
	READ_THROUGH(edx);
	READ_THROUGH(esi);
	READ_THROUGH(edi);
	WRITE_THROUGH(eax);
	WRITE_THROUGH(ebx);
	WRITE_THROUGH(ecx);
	WRITE_THROUGH(edx);
	WRITE_THROUGH(esi);
	WRITE_THROUGH(edi);
}

static void test_ebp(void)
{
	uint32_t value;

	__asm__ volatile("pushl %%ebp\n\tmovl %%cr0, %%ebp\n\tmovl %%ebp, %0\n\t"
			 "movl $0x1234, %%ebp\n\tmovl %%ebp, %%cr2\n\tpopl %%ebp"
			 : "=r"(value));
	expect_equal(value, cr0_read());
	expect_equal(cr2_read(), 0x1234);
}

/* Emulation leaves all other registers and the flags alone. */
static void test_others_kept(void)
{
	uint32_t a, b = 0x22222222, c = 0x33333333, d = 0x44444444;
	uint32_t si = 0x55555555, di = 0x66666666, flags;

	__asm__ volatile("stc\n\tmovl %%cr0, %%eax\n\tpushfl\n\tpopl %%eax"
			 : "=a"(a), "+b"(b), "+c"(c), "+d"(d), "+S"(si), "+D"(di)
			 : : "cc");
	flags = a;
	expect_equal(b, 0x22222222);
	expect_equal(c, 0x33333333);
	expect_equal(d, 0x44444444);
	expect_equal(si, 0x55555555);
	expect_equal(di, 0x66666666);
	expect_equal(flags & EFLAGS_CARRY, EFLAGS_CARRY);
}

static void test_clts(void)
{
	cr0_write(cr0_read() | CR0_TS);
	__asm__ volatile("clts");
	expect_equal(cr0_read() & CR0_TS, 0);
}

static void test_lmsw(void)
{
	const uint16_t with_ts = (uint16_t)(cr0_read() | CR0_TS);

	__asm__ volatile("lmsw %0" : : "m"(with_ts));
	expect_equal(cr0_read() & CR0_TS, CR0_TS);
	__asm__ volatile("lmsw %w0" : : "r"((uint32_t)with_ts & ~CR0_TS));
	expect_equal(cr0_read() & CR0_TS, 0);
	expect_equal(cr0_read() & CR0_PE, CR0_PE);
}

static void test_cr2(void)
{
	cr2_write(0x89abcdef);
	expect_equal(cr2_read(), 0x89abcdef);
}

static void test_cr2_shared(void)
{
	SKIP_NATIVE("there is no shared page");
	cr2_write(0x76543210);
	expect_equal(SHARED_PAGE->cr2, 0x76543210);
}

static void test_cr3(void)
{
	uint32_t before = cr3_read();

	cr3_write(0x7000);
	expect_equal(cr3_read(), 0x7000);
	cr3_write(before);
	expect_equal(cr3_read(), before);
}

static void test_cr4(void)
{
	uint32_t before = cr4_read();

	cr4_write(before | CR4_PSE | CR4_PGE);
	expect_equal(cr4_read(), before | CR4_PSE | CR4_PGE);
	cr4_write(before & ~(CR4_PSE | CR4_PGE));
	expect_equal(cr4_read(), before & ~(CR4_PSE | CR4_PGE));
	cr4_write(before | CR4_OSFXSR | CR4_OSXMMEXCPT);
	expect_equal(cr4_read(), before | CR4_OSFXSR | CR4_OSXMMEXCPT);
}

static void test_wbinvd(void)
{
	uint32_t value = 0x1234;
	volatile uint32_t memory = value;

	__asm__ volatile("wbinvd" : : : "memory");
	expect_equal(memory, value);
}

static uint64_t msr_read(uint32_t number)
{
	uint32_t low = 0, high = 0;

	TRAP_PROVOKE("rdmsr", : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}

static void test_msr_tsc(void)
{
	uint64_t before, value;

	SKIP_NATIVE("QEMU answers with 0");
	before = time_stamp();
	value = msr_read(MSR_TSC);
	expect_equal(trap.count, 0);
	expect(before <= value);
	expect(value <= time_stamp());
}

/* Those that Linux 6.1 reads on the CPUs that it runs on here: PLATFORM_ID,
 * APIC_BASE, FEAT_CTL, BIOS_SIGN_ID, PERFEVTSEL0, MISC_ENABLE. */
static void test_msr_known(void)
{
	static const uint32_t numbers[] = { 0x17, 0x1b, 0x3a, 0x8b, 0x186, 0x1a0 };

	for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t value = msr_read(numbers[i]);

		expect_equal(trap.count, 0);
		if (environment == NATIVE)
			continue;
		TRAP_PROVOKE("wrmsr", : : "c"(numbers[i]), "a"((uint32_t)value),
			     "d"((uint32_t)(value >> 32)));
		expect_equal(trap.count, 0);
	}
}

/* Linux probes some with a safety net. */
static void test_msr_unknown(void)
{
	SKIP_NATIVE("QEMU answers unknown registers with 0");
	msr_read(MSR_UNKNOWN);
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
	expect_equal(trap.error, 0);
	TRAP_PROVOKE("wrmsr", : : "c"(MSR_UNKNOWN), "a"(0), "d"(0));
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
}

static const struct tap_test control_tests[] = {
	{ "control-cr0", test_cr0 },
	{ "control-registers", test_registers },
	{ "control-ebp", test_ebp },
	{ "control-others-kept", test_others_kept },
	{ "control-clts", test_clts },
	{ "control-lmsw", test_lmsw },
	{ "control-cr2", test_cr2 },
	{ "control-cr2-shared", test_cr2_shared },
	{ "control-cr3", test_cr3 },
	{ "control-cr4", test_cr4 },
	{ "control-wbinvd", test_wbinvd },
	{ "control-msr-tsc", test_msr_tsc },
	{ "control-msr-known", test_msr_known },
	{ "control-msr-unknown", test_msr_unknown },
};
const struct tap_group group_control = TAP_GROUP(control_tests);

/* Debug registers */

#define DR7_FIXED 0x400U
#define DR7_ENABLE_0 0x1U
#define DR7_ENABLE_1 0x4U
#define DR7_WRITE_1 0x100000U
#define DR7_READ_WRITE_1 0x300000U
#define DR7_4_BYTES_1 0xc00000U
#define DR6_HIT_0 0x1U
#define DR6_HIT_1 0x2U
#define DR6_STEP 0x4000U

static volatile uint32_t watched;

static void test_debug_values(void)
{
	dr0_write(0x11111111);
	dr1_write(0x22222222);
	dr2_write(0x33333333);
	dr3_write(0x44444444);
	expect_equal(dr0_read(), 0x11111111);
	expect_equal(dr1_read(), 0x22222222);
	expect_equal(dr2_read(), 0x33333333);
	expect_equal(dr3_read(), 0x44444444);
	dr7_write(DR7_FIXED);
	expect_equal(dr7_read(), DR7_FIXED);
	dr6_write(0xffff0ff0);
	expect_equal(dr6_read(), 0xffff0ff0);
}

static void test_debug_execute(void)
{
	uint32_t address;

	dr6_write(0);
	TRAP_PROVOKE("movl $9f, %0\n\tmovl %0, %%dr0\n\tmovl %1, %%eax\n\tmovl %%eax, %%dr7\n\t"
		     "nop\n9:\tnop",
		     : "=&r"(address) : "i"(DR7_FIXED | DR7_ENABLE_0) : "eax");
	dr7_write(DR7_FIXED);
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_DB);
	expect_equal(trap.eip, address);
	expect_equal(dr6_read() & 0xf, DR6_HIT_0);
}

static void test_debug_write(void)
{
	dr6_write(0);
	dr1_write((uint32_t)&watched);
	dr7_write(DR7_FIXED | DR7_ENABLE_1 | DR7_WRITE_1 | DR7_4_BYTES_1);
	TRAP_PROVOKE("movl $5, %0", : "=m"(watched));
	dr7_write(DR7_FIXED);
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_DB);
	expect_equal(dr6_read() & 0xf, DR6_HIT_1);
	expect_equal(watched, 5);
}

static void test_debug_read(void)
{
	dr6_write(0);
	dr1_write((uint32_t)&watched);
	dr7_write(DR7_FIXED | DR7_ENABLE_1 | DR7_READ_WRITE_1 | DR7_4_BYTES_1);
	TRAP_PROVOKE("movl %0, %%eax", : : "m"(watched) : "eax");
	dr7_write(DR7_FIXED);
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_DB);
}

static void test_debug_step(void)
{
	uint32_t address;

	dr6_write(0);
	TRAP_PROVOKE("movl $9f, %0\n\tpushfl\n\torl $0x100, (%%esp)\n\tpopfl\n\tnop\n9:\tnop",
		     : "=r"(address) : : "cc");
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_DB);
	expect_equal(trap.eip, address);
	expect_equal(trap.eflags & EFLAGS_TRAP, EFLAGS_TRAP);
	expect_equal(dr6_read() & DR6_STEP, DR6_STEP);
}

/* A breakpoint inside the VMM must not be set, or not hurt. */
static void test_debug_in_vmm(void)
{
	SKIP_NATIVE("there is no VMM");
	for (uint32_t address = 0xfc400000; address < 0xfc440000; address += 0x1000) {
		dr1_write(address);
		dr7_write(DR7_FIXED | DR7_ENABLE_1 | DR7_READ_WRITE_1 | DR7_4_BYTES_1);
		expect_equal(dr1_read(), address);
	}
	dr7_write(DR7_FIXED);
}

/* One on memory that the VMM reads for the kernel is hit in the VMM, and told by DR6 alone. */
static void test_debug_read_by_vmm(void)
{
	static uint64_t entries[3];

	SKIP_NATIVE("there is no VMM");
	dr1_write((uint32_t)&entries[1]);
	dr7_write(DR7_FIXED | DR7_ENABLE_1 | DR7_READ_WRITE_1 | DR7_4_BYTES_1);
	expect_equal(hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)entries, 0, 0), 0);
	dr7_write(DR7_FIXED);
	expect_equal(dr6_read() & DR6_HIT_1, DR6_HIT_1);
}

static const struct tap_test debug_tests[] = {
	{ "debug-values", test_debug_values },
	{ "debug-execute", test_debug_execute },
	{ "debug-write", test_debug_write },
	{ "debug-read", test_debug_read },
	{ "debug-step", test_debug_step },
	{ "debug-read-by-vmm", test_debug_read_by_vmm },
	{ "debug-in-vmm", test_debug_in_vmm },
};
const struct tap_group group_debug = TAP_GROUP(debug_tests);
