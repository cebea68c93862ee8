/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks by what goes from core to core: interrupts between vCPUs as fast as they can be sent,
 * stores to local APICs, starts, doorbells, ports, and management of another guest. A call that is
 * for nobody must be refused, and one that is made without end must not keep back others.
 *
 * The description has the guests in this order: this one, an RTOS beside each of its vCPUs or on a
 * core of its own, and last one that may be managed.
 */
#include "siblings.h"

#include "control.h"

#define PLACES 9U
#define UART_STATUS 0x3fdU
#define INIT 0x500U
#define STARTUP 0x600U

/* Answers that are not those that the call is to have. */
static volatile uint32_t wrong;

static bool was_refused(int32_t result)
{
	return result == GANDALF_ERROR_ARGUMENT;
}

static void refusal_expect(int32_t result)
{
	wrong += !was_refused(result);
}

/* --- Interrupts between vCPUs --- */

static void storm(void)
{
	uint32_t own = own_index();

	for (; attack_goes_on(); did[own]++) {
		/* IDs without a vCPU have no effect. */
		uint32_t ids = did[own] % 8 == 0 ? 0xffffffff : 1U << !own;

		wrong += ipi_send(ids, did[own] % IPIS) != 0;
	}
}

static bool all_came(uint32_t index, const uint32_t *before)
{
	for (uint32_t i = 0; i < IPIS; i++)
		if (ipi_count[index][i] == before[i])
			return false;
	return true;
}

/* Each vector once more to each, itself included, now that it is quiet. */
static void each_expect(uint32_t index)
{
	uint64_t end = time_stamp() + milliseconds(PATIENCE_MS);
	uint32_t before[IPIS];

	for (uint32_t i = 0; i < IPIS; i++)
		before[i] = ipi_count[index][i];
	for (uint32_t i = 0; i < IPIS; i++)
		expect_equal(ipi_send(1U << index, i), 0);
	while (!all_came(index, before) && time_stamp() < end)
		;
	expect(all_came(index, before));
}

static void test_interrupts_without_end(void)
{
	uint32_t before[SIBLINGS] = { ipi_count[0][1], ipi_count[1][1] };

	wrong = 0;
	attack_together(storm, storm, 500);
	expect_equal(wrong, 0);
	for (uint32_t i = 0; i < SIBLINGS; i++) {
		expect(ipi_count[i][1] > before[i]);
		each_expect(i);
	}
}

/* --- Calls that are for nobody --- */

static void refused_calls(void)
{
	uint32_t own = own_index();

	for (; attack_goes_on(); did[own]++) {
		uint32_t random = random_next();

		refusal_expect(hypercall(GANDALF_HYPERCALL_IPI, random, random % GANDALF_IPI_FIRST,
					 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_IPI, random, 256 + (random >> 8), 0));
		/* Itself, and what is no vCPU of this guest: cores and guests have such numbers. */
		refusal_expect(hypercall(GANDALF_HYPERCALL_START_CPU, own, 0x100000, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_START_CPU, 0, 0x100000, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_START_CPU, 2 + random % 8, 0x100000, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_START_CPU, random | 2, 0x100000, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_START_CPU, 1, random | 0x1000000, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_DOORBELL, PLACES + random % 64, 0, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_DOORBELL, random | PLACES, 0, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_ACT,
					 random % 6 | PLACES << GANDALF_PLACE_SHIFT, 0, 0));
		refusal_expect(hypercall(GANDALF_HYPERCALL_ACT, random % 6, 0, 0)); /* itself */
	}
}

static void test_calls_for_nobody_are_refused(void)
{
	wrong = 0;
	attack_together(refused_calls, refused_calls, 100);
	expect_equal(wrong, 0);
}

/* --- Stores to local APICs --- */

/* As Linux without a driver of its own would: INIT and start-up to every CPU there can be. */
static void starts_of_all(void)
{
	uint32_t own = own_index();

	for (; attack_goes_on(); did[own]++) {
		uint32_t shorthand = random_next() % 4 << 18;

		*apic_register(APIC_DESTINATION) = did[own] << 24;
		*apic_register(APIC_COMMAND) = shorthand | INIT | 0x4000;
		*apic_register(APIC_COMMAND) = shorthand | STARTUP | (random_next() & 0xff);
		*apic_register(APIC_COMMAND) = shorthand | (random_next() & 0x7ff);
		wrong += *apic_register(APIC_ID) >> 24 != own;
	}
}

static void test_command_registers_start_nobody(void)
{
	wrong = 0;
	attack_together(starts_of_all, starts_of_all, 50);
	expect_equal(wrong, 0);
}

static void apic_restore(void)
{
	*apic_register(APIC_TIMER) = 0x10000;
	*apic_register(APIC_COUNT) = 0;
	*apic_register(APIC_PRIORITY) = 0;
	*apic_register(APIC_SPURIOUS) = 0x1ff;
	*apic_register(GANDALF_APIC_AUTOMATIC_END) = 1;
	for (uint32_t i = 0; i < 256; i++)
		*apic_register(APIC_END) = 0;
}

/* Stores at any place of the page, and by hypercalls at any offset. The timer's vector is one that
 * has a handler. */
static void registers_store(void)
{
	uint32_t own = own_index(), version = *apic_register(APIC_VERSION);

	for (; attack_goes_on(); did[own]++) {
		uint32_t offset = random_next() % 0xffc, value = random_next();

		if (random_next() % 4 != 0)
			offset &= ~0xfU;
		if (offset == APIC_TIMER)
			value |= GANDALF_IPI_FIRST;
		if (random_next() % 2)
			*apic_register(offset) = value;
		else
			hypercall(GANDALF_HYPERCALL_APIC_WRITE,
				  random_next() % 4 ? offset : random_next() | 0x1000, value, 0);
		wrong += *apic_register(APIC_ID) >> 24 != own;
		wrong += *apic_register(APIC_VERSION) != version;
	}
	apic_restore();
}

static void test_registers_of_every_kind(void)
{
	wrong = 0;
	attack_together(registers_store, registers_store, 300);
	expect_equal(wrong, 0);
	each_expect(0);
	each_expect(1);
}

/* --- Starts of a vCPU that runs --- */

#define RESTARTS 60

static void test_starts_without_end(void)
{
	sibling_floods = true;
	for (uint32_t i = 0; i < RESTARTS; i++) {
		expect_equal(sibling_restart(), 0);
		for (uint32_t wait = random_next() % 4096; wait > 0; wait--)
			__asm__ volatile("pause");
		if (i % 4 == 0)
			expect(sibling_awaited());
	}
	sibling_floods = false;
	/* The last start of those may still be on its way, and would be taken for the next one. */
	for (uint64_t end = time_stamp() + milliseconds(500); time_stamp() < end;)
		;
	expect_equal(sibling_restart(), 0);
	expect(sibling_awaited());
	each_expect(1);
}

/* --- Other guests --- */

static void bells_ring(void)
{
	uint32_t own = own_index();

	for (; attack_goes_on(); did[own]++) {
		int32_t result = hypercall(GANDALF_HYPERCALL_DOORBELL, 1 + did[own] % 3, 0, 0);

		/* A guest of the caller's core may have no handler for it. */
		wrong += result != 0 && !was_refused(result);
	}
}

static void test_doorbells_without_end(void)
{
	wrong = 0;
	attack_together(bells_ring, bells_ring, 500);
	expect_equal(wrong, 0);
}

/* The last guest is started, stopped, paused and typed to without end. */
static void guest_manage(void)
{
	static const char typed[] = "typed without end";
	uint32_t own = own_index(), place = 3U << GANDALF_PLACE_SHIFT;

	for (; attack_goes_on(); did[own]++) {
		int32_t result = hypercall(GANDALF_HYPERCALL_ACT, random_next() % 5 | place, 0, 0);

		wrong += result != 0 && result != GANDALF_ERROR_BUSY &&
			 result != GANDALF_ERROR_STATE;
		hypercall(GANDALF_HYPERCALL_WRITE, GANDALF_OBJECT_CONSOLE | place, (uint32_t)typed,
			  sizeof(typed) - 1);
	}
}

static void test_actions_without_end(void)
{
	wrong = 0;
	attack_together(guest_manage, guest_manage, 100);
	expect_equal(wrong, 0);
}

/* Chips that both ask for at once; the second vCPU has the first one do it. */
static void ports_access(void)
{
	static const uint16_t ports[] = { 0x20, 0x21, 0x40, 0x61, 0x71, UART_STATUS, 0x3fa, 0xa1 };
	uint32_t own = own_index();

	for (; attack_goes_on(); did[own]++) {
		(void)port_in(ports[did[own] % (sizeof(ports) / sizeof(ports[0]))]);
		port_out(0x80, (uint8_t)did[own]);

		if (did[own] % 16 == 0 && (port_in(UART_STATUS) & 0x20))
			port_out(0x3f8, '\n');
	}
}

static void test_ports_without_end(void)
{
	attack_together(ports_access, ports_access, 100);
}

/* Each gives its turn away as often as it can. On one core both go on all the same. */
static void turns_end(void)
{
	uint32_t own = own_index();

	for (; attack_goes_on(); did[own]++)
		wrong += hypercall(GANDALF_HYPERCALL_YIELD, random_next(), 0, 0) != 0;
}

static void test_turns_end_without_end(void)
{
	wrong = 0;
	attack_together(turns_end, turns_end, 100);
	expect_equal(wrong, 0);
}

static const struct tap_test tests[] = {
	{ "turns-end-without-end", test_turns_end_without_end },
	{ "interrupts-without-end", test_interrupts_without_end },
	{ "calls-for-nobody-are-refused", test_calls_for_nobody_are_refused },
	{ "command-registers-start-nobody", test_command_registers_start_nobody },
	{ "registers-of-every-kind", test_registers_of_every_kind },
	{ "starts-without-end", test_starts_without_end },
	{ "doorbells-without-end", test_doorbells_without_end },
	{ "actions-without-end", test_actions_without_end },
	{ "ports-without-end", test_ports_without_end },
};

const struct tap_group group_messages_together = TAP_GROUP(tests);
