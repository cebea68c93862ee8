/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test kernel pc-siblings.elf, for a guest with two vCPUs on two cores: does with both at once
 * what must harm nobody. It checks that the VMM's answers are right, that it has what a guest of
 * several vCPUs may rely on, and that each attack was made as often as one would expect. What
 * guests beside it see is for tests/boot/test_siblings.py. With the command line "crossings" both
 * play the rounds of siblings_crossings.c instead.
 */
#include "siblings.h"

#include "emulator.h"
#include "print.h"
#include "suite.h"

/* In QEMU each core is a thread, of which there may be more than the host has CPUs: there an attack
 * lasts longer, and some rounds of it are enough. */
#define ATTACK_MS 120U
#define ATTACK_MS_OF_THREADS 400U
#define ENOUGH_OF_THREADS 2U
#define SECOND 1U

volatile uint32_t did[SIBLINGS];
volatile bool sibling_floods;
void (*flush_hook)(void);
volatile uint32_t ipi_count[SIBLINGS][IPIS];

/* What the second vCPU is to do, and how many such jobs have been given and ended. */
static void (*volatile job)(void);
static volatile uint32_t jobs_given, jobs_ended;
static volatile uint64_t attack_end, attack_last;
static volatile uint32_t attack_least; /* rounds that each must do */
/* The number of the last start, and of that in which the second one is. */
static volatile uint32_t starts, started;
static uint32_t random_state[SIBLINGS] = { 1, 0x9e3779b9 };

/* Marsaglia's xorshift. */
uint32_t random_next(void)
{
	uint32_t *state = &random_state[own_index()];

	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void more(struct trap_frame *frame)
{
	uint32_t ipi = frame->vector - VECTOR_MORE;

	ipi_count[own_index()][ipi]++;
	if (ipi == IPI_FLUSH && flush_hook)
		flush_hook();
}

/* --- The second vCPU --- */

static void flood(void)
{
	ipi_send(1, 0);
	(void)port_in(0x3fd);
}

static void sibling_main(void)
{
	started = starts;
	for (;;) {
		if (sibling_floods)
			flood();
		if (jobs_given == jobs_ended)
			continue;
		job();
		jobs_ended = jobs_given;
	}
}

static void sibling_halts(void)
{
	irq_disable();
	jobs_ended = jobs_given;
	for (;;)
		__asm__ volatile("cli\n\thlt");
}

int32_t sibling_restart(void)
{
	starts++;
	return vcpu_start(SECOND, sibling_main);
}

static bool awaited(const volatile uint32_t *value, uint32_t wanted)
{
	uint64_t end = time_stamp() + milliseconds(PATIENCE_MS);

	while (*value != wanted)
		if (time_stamp() > end)
			return false;
	return true;
}

bool sibling_awaited(void)
{
	return awaited(&started, starts);
}

void sibling_begin(void (*what)(void))
{
	job = what;
	jobs_given++;
}

bool sibling_ended(void)
{
	return awaited(&jobs_ended, jobs_given);
}

/* --- Attacks --- */

/* A host that is busy may have given one vCPU no time until the end. Then the attack goes on until
 * both have done enough: it must not be the VMM that keeps one of them from that. */
bool attack_goes_on(void)
{
	uint64_t now = time_stamp();

	return now < attack_end ||
	       ((did[0] < attack_least || did[1] < attack_least) && now < attack_last);
}

void attack_together(void (*first)(void), void (*second)(void), uint32_t enough)
{
	bool threads = emulator_is_qemu();

	for (uint32_t i = 0; i < SIBLINGS; i++)
		did[i] = 0;
	attack_least = threads ? ENOUGH_OF_THREADS : enough;
	attack_end = time_stamp() + milliseconds(threads ? ATTACK_MS_OF_THREADS : ATTACK_MS);
	attack_last = threads ? time_stamp() + milliseconds(PATIENCE_MS) : attack_end;
	sibling_begin(second);
	first();
	if (!expect(sibling_ended()))
		return;
	for (uint32_t i = 0; i < SIBLINGS; i++)
		expect(did[i] >= attack_least);
	print("# %u and %u times\n", did[0], did[1]);
}

static void test_the_second_starts(void)
{
	expect_equal(own_index(), 0);
	expect_equal(sibling_restart(), 0);
	expect(sibling_awaited());
}

static void test_the_second_halts(void)
{
	sibling_begin(sibling_halts);
	expect(sibling_ended());
}

static const struct tap_test begin[] = { { "the-second-starts", test_the_second_starts } };
static const struct tap_test end[] = { { "the-second-halts", test_the_second_halts } };

/* Attacks, or the crossings that the command line asks for. */
static bool groups_run(void)
{
	const struct tap_group attacks[] = { TAP_GROUP(begin), group_tables_together,
					     group_messages_together, TAP_GROUP(end) };
	const struct tap_group crossings[] = {
		TAP_GROUP(begin),
		command_line_begins("crossings long") ? group_long_crossings : group_crossings,
		TAP_GROUP(end),
	};

	if (command_line_begins("crossings"))
		return tap_run("pc-siblings", crossings, sizeof(crossings) / sizeof(crossings[0]));
	return tap_run("pc-siblings", attacks, sizeof(attacks) / sizeof(attacks[0]));
}

void suite_run(void)
{
	vcpus_begin(more);
	machine_off(groups_run());
}
