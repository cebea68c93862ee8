// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local APIC that a Linux with several vCPUs has from the VMM, as an APIC driver of Linux. The
 * command line chooses it with apic=gandalf. Linux's own driver sends IPIs by stores to the page of
 * the APIC. Each would be a page fault whose instruction the VMM decodes, and the APIC that it
 * offers sends nothing for them. This driver uses hypercalls instead. One is enough for an IPI,
 * whatever CPUs it is for, where the register of a real APIC is read before and written twice. And
 * no interrupt is ended with a store, because the VMM ends each as it delivers it.
 *
 * The other vCPUs start in 32-bit mode, so Linux's trampoline for real mode is not used. A start
 * ends when it has come too late.
 *
 * There is no I/O APIC. The virtual 8259s interrupt the first CPU, past its APIC.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/stringify.h>
#include <linux/time64.h>
#include <asm/apic.h>
#include <asm/cmpxchg.h>
#include <asm/cpufeature.h>
#include <asm/mpspec.h>
#include <asm/page.h>
#include <asm/smp.h>

#include "apic.h"
#include "gandalf.h"

/*
 * A CPU whose core is an RTOS's for long may begin when Linux does not wait for it any more, and
 * starts another one: what a CPU begins with, its stack and its GDT, is in variables that are there
 * once (head_32.S). So a start is withdrawn when the wait is over, and a CPU that begins all the
 * same halts. One byte for each CPU, which that CPU makes START_NONE in the one instruction in
 * which it looks whether it is wanted.
 */
#define START_NONE 0
#define START_WANTED 1
#define START_WITHDRAWN 2
extern u8 gandalf_starts[NR_CPUS];
u8 gandalf_starts[NR_CPUS];

/* Seconds: gandalf_smp.patience=N on the command line. */
static unsigned int patience = 10;
module_param(patience, uint, 0444);

/*
 * Where the CPUs begin, each BEGIN_SIZE bytes behind the last, in 32-bit mode without paging, with
 * interrupts disabled. Only their segments are known, so the address says which CPU it is.
 * startup_32_smp is where the kernel begins for all CPUs but the first.
 */
#define BEGIN_SIZE 32
extern const char gandalf_begin[];
asm(".pushsection .text, \"ax\"\n"
    ".balign " __stringify(BEGIN_SIZE) "\n"
    "gandalf_begin:\n"
    ".set gandalf_cpu, 0\n"
    ".rept " __stringify(CONFIG_NR_CPUS) "\n"
    "	movb $" __stringify(START_NONE) ", %al\n"
    "	xchgb %al, gandalf_starts - " __stringify(CONFIG_PAGE_OFFSET) " + gandalf_cpu\n"
    "	cmpb $" __stringify(START_WANTED) ", %al\n"
    "	je startup_32_smp\n"
    "1:	hlt\n"
    "	jmp 1b\n"
    "	.balign " __stringify(BEGIN_SIZE) "\n"
    "	.set gandalf_cpu, gandalf_cpu + 1\n"
    ".endr\n"
    ".popsection");

static long hypercall(u32 number, u32 first, u32 second)
{
	long result;

	asm volatile("int %[vector]"
		     : "=a" (result)
		     : [vector] "i" (GANDALF_HYPERCALL_VECTOR), "0" (number),
		       "b" (first), "c" (second)
		     : "memory");
	return result;
}

static void gandalf_write(u32 offset, u32 value)
{
	hypercall(GANDALF_HYPERCALL_APIC_WRITE, offset, value);
}

/* Does nothing, since the VMM has ended the interrupt (GANDALF_APIC_AUTOMATIC_END). */
static void gandalf_eoi_write(u32 offset, u32 value)
{
}

/* Returns the bit of a CPU, by its APIC's ID. */
static u32 id_of(int cpu)
{
	return BIT(per_cpu(x86_cpu_to_apicid, cpu));
}

/* Says that a CPU's ID is not its number, by which Linux's masks have it. The VMM's table names the
 * CPUs in the order in which Linux counts them, so that none should be. */
static bool renumbered;

/* Returns the bits of CPUs. To look each of them up takes longer than all else to send an IPI. */
static u32 ids_of(const struct cpumask *cpus)
{
	u32 ids = 0;
	int cpu;

	BUILD_BUG_ON(NR_CPUS > 32);
	if (!READ_ONCE(renumbered))
		return cpumask_bits(cpus)[0];
	for_each_cpu(cpu, cpus)
		ids |= id_of(cpu);
	return ids;
}

static u32 own_id(void)
{
	return id_of(smp_processor_id());
}

/*
 * Interrupts CPUs. The vectors below GANDALF_IPI_FIRST, which the VMM refuses, are of no use here:
 * Linux has among them NMI_VECTOR, and there is no virtual NMI, and those with which it moves or
 * repeats the interrupt of an I/O APIC.
 */
static void interrupt(u32 ids, int vector)
{
	if (ids && vector >= GANDALF_IPI_FIRST)
		hypercall(GANDALF_HYPERCALL_IPI, ids, vector);
}

static void gandalf_send_IPI(int cpu, int vector)
{
	interrupt(id_of(cpu), vector);
}

static void gandalf_send_IPI_mask(const struct cpumask *cpus, int vector)
{
	interrupt(ids_of(cpus), vector);
}

static void gandalf_send_IPI_mask_allbutself(const struct cpumask *cpus, int vector)
{
	interrupt(ids_of(cpus) & ~own_id(), vector);
}

static void gandalf_send_IPI_allbutself(int vector)
{
	interrupt(ids_of(cpu_online_mask) & ~own_id(), vector);
}

static void gandalf_send_IPI_all(int vector)
{
	interrupt(ids_of(cpu_online_mask), vector);
}

static void gandalf_send_IPI_self(int vector)
{
	interrupt(own_id(), vector);
}

/* The register for IPIs is not used: it is idle at any time, and nothing is to be read from it. */
static void gandalf_wait_icr_idle(void)
{
}

static u32 gandalf_safe_wait_icr_idle(void)
{
	return 0;
}

static u64 gandalf_icr_read(void)
{
	return 0;
}

static void gandalf_icr_write(u32 low, u32 high)
{
}

/* Has a CPU begin, unless an earlier start, which was withdrawn, is still to come. */
static long start(int apicid)
{
	if (cmpxchg(&gandalf_starts[apicid], START_WITHDRAWN, START_WANTED) == START_WITHDRAWN)
		return 0;
	WRITE_ONCE(gandalf_starts[apicid], START_WANTED);
	return hypercall(GANDALF_HYPERCALL_START_CPU, apicid,
			 __pa_symbol(gandalf_begin) + apicid * BEGIN_SIZE);
}

/* Starts a CPU and waits until it has begun. What Linux gives is the entry of its trampoline. */
static int gandalf_wakeup_secondary_cpu(int apicid, unsigned long start_eip)
{
	unsigned long end = jiffies + patience * HZ;
	long error = start(apicid);

	if (error)
		return error;
	while (READ_ONCE(gandalf_starts[apicid]) == START_WANTED && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	if (cmpxchg(&gandalf_starts[apicid], START_WANTED, START_WITHDRAWN) != START_WANTED)
		return 0;
	pr_warn("gandalf: CPU %d has not begun in %u s: its start is withdrawn\n", apicid,
		patience);
	return -ETIMEDOUT;
}

/*
 * Says what CPUID cannot, which speaks of the real CPU. The timer's frequency is known, so Linux
 * need not measure it, and it goes on while a CPU is idle. It has no deadline mode. MWAIT is not
 * for a kernel in ring 1: an offline CPU would wait with it.
 */
static void facts_init(void)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;

	/* The timer counts time stamps. */
	lapic_timer_period = div_u64((u64)shared->tsc_khz * MSEC_PER_SEC, HZ);
	setup_force_cpu_cap(X86_FEATURE_ARAT);
	setup_clear_cpu_cap(X86_FEATURE_TSC_DEADLINE_TIMER);
	setup_clear_cpu_cap(X86_FEATURE_MWAIT);
}

/*
 * Runs once on each CPU before its timer is set up, and again when it comes back from being
 * offline. The logical ID, for which Linux has this function, is not needed: no interrupt goes by
 * it.
 */
static void gandalf_init_apic_ldr(void)
{
	gandalf_write(GANDALF_APIC_AUTOMATIC_END, 1);
	if (own_id() != BIT(smp_processor_id()))
		WRITE_ONCE(renumbered, true);
	if (!lapic_timer_period)
		facts_init();
}

static unsigned int gandalf_get_apic_id(unsigned long value)
{
	return value >> 24;
}

static u32 gandalf_set_apic_id(unsigned int id)
{
	return id << 24;
}

static int gandalf_apic_id_registered(void)
{
	return physid_isset(read_apic_id(), phys_cpu_present_map);
}

/* Returns a part of the ID of the CPU that asks. What it has from CPUID is the ID of the real CPU
 * that it runs on. */
static int gandalf_phys_pkg_id(int cpuid_apic, int index_msb)
{
	return read_apic_id() >> index_msb;
}

/* Says that logical IDs are not known, since there are none. */
static int gandalf_early_logical_apicid(int cpu)
{
	return BAD_APICID;
}

/* Says no: only the command line chooses this driver. */
static int gandalf_probe(void)
{
	return 0;
}

static struct apic apic_gandalf __ro_after_init = {
	.name = "gandalf",
	.probe = gandalf_probe,
	.apic_id_valid = default_apic_id_valid,
	.apic_id_registered = gandalf_apic_id_registered,

	.delivery_mode = APIC_DELIVERY_MODE_FIXED,
	.dest_mode_logical = false,

	.check_apicid_used = default_check_apicid_used,
	.init_apic_ldr = gandalf_init_apic_ldr,
	.ioapic_phys_id_map = default_ioapic_phys_id_map,
	.cpu_present_to_apicid = default_cpu_present_to_apicid,
	.apicid_to_cpu_present = physid_set_mask_of_physid,
	.check_phys_apicid_present = default_check_phys_apicid_present,
	.phys_pkg_id = gandalf_phys_pkg_id,

	.get_apic_id = gandalf_get_apic_id,
	.set_apic_id = gandalf_set_apic_id,

	.calc_dest_apicid = apic_default_calc_apicid,

	.send_IPI = gandalf_send_IPI,
	.send_IPI_mask = gandalf_send_IPI_mask,
	.send_IPI_mask_allbutself = gandalf_send_IPI_mask_allbutself,
	.send_IPI_allbutself = gandalf_send_IPI_allbutself,
	.send_IPI_all = gandalf_send_IPI_all,
	.send_IPI_self = gandalf_send_IPI_self,

	.wakeup_secondary_cpu = gandalf_wakeup_secondary_cpu,

	.read = native_apic_mem_read,
	.write = gandalf_write,
	.eoi_write = gandalf_eoi_write,
	.icr_read = gandalf_icr_read,
	.icr_write = gandalf_icr_write,
	.wait_icr_idle = gandalf_wait_icr_idle,
	.safe_wait_icr_idle = gandalf_safe_wait_icr_idle,

	.x86_32_early_logical_apicid = gandalf_early_logical_apicid,
};

apic_driver(apic_gandalf);
