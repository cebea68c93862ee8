/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of consoles between two cores: all arrive, in their order, however full rings and
 * consoles are; and the other core's log is put together to lines.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"
#include "fake/serve_message.h"

#include "core/core.h"
#include "core/instances.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "device/console_buffer.h"

enum { CORES = 2, GUESTS = 3, OWN = 0, OTHER = 1, THIRD = 2, LINES = 8 };

#define OUTBOXES (CORES * 2 * PAGE_SIZE)
#define TSC_KHZ 1000000u
/* Bytes that a guest has not read, beyond which nobody sends it more. */
#define INPUT_ROOM (CONSOLE_INPUT_SIZE - GANDALF_CPUS_MAXIMUM * INPUT_RING)

struct gandalf_table system_table;
struct vm vms[PLACES_MAXIMUM];
struct vcpu vcpus[PLACES_MAXIMUM];
struct console_mux consoles;
struct console *log_console;
u32 time_tsc_khz = TSC_KHZ;

static struct gandalf_guest guests[GUESTS];
/* What each core has of its own: it is put in place when the test goes on as that core. */
static struct console guest_consoles[CORES][GUESTS], logs[CORES];
static struct deadline deadlines[CORES];
static bool another_is_over; /* what deadline_waits() says */
static struct relay_round rounds[CORES];
static bool messaged[CORES];
static char printed[LINES][CONSOLE_LINE_SIZE + 20];
static u32 works[CORES]; /* housekeeping of each core */
static u32 printed_count, told[GUESTS], housekeeping, pumped;
static struct vcpu has_core; /* whoever it is, on each core */

/*
 * Own stand-ins: log_line() keeps several lines, core_read() has the other cores, message_send(),
 * log_pump() and schedule_housekeeping() are asked of the right core only.
 */
void message_send(u32 to, u32 message)
{
	assert_int_not_equal(to, core.index);
	assert_int_equal(message, to == 0 ? MESSAGE_OUTPUT : MESSAGE_INPUT);
	messaged[to] = true;
}

bool deadline_waits(void)
{
	return another_is_over;
}

void log_pump(void)
{
	assert_int_equal(core.index, 0);
	pumped++;
}

void log_line(const char *pattern, ...)
{
	va_list arguments;

	assert_true(printed_count < LINES);
	va_start(arguments, pattern);
	vsnprintf(printed[printed_count++], sizeof(printed[0]), pattern, arguments);
	va_end(arguments);
}

/* Copies a part of what a core has if it is a part of what this one has. */
static bool part_read(void *to, const void *part, u32 size, const void *own, const void *theirs,
		      u32 whole)
{
	u32 offset = (u32)part - (u32)own;

	if (offset >= whole || offset + size > whole)
		return false;
	memcpy(to, (const u8 *)theirs + offset, size);
	return true;
}

/* Of the consoles each core has its own, and its work that waits. */
void core_read(u32 index, void *to, const void *variable, u32 size)
{
	assert_true(part_read(to, variable, size, guest_consoles[core.index],
			      guest_consoles[index], sizeof(guest_consoles[0])) ||
		    part_read(to, variable, size, &logs[core.index], &logs[index],
			      sizeof(logs[0])) ||
		    part_read(to, variable, size, &core.housekeeping, &works[index],
			      sizeof(works[0])));
}

void schedule_housekeeping(u32 work)
{
	assert_int_equal(core.index, 0);
	housekeeping |= work;
}

static void console_told(struct vcpu *vcpu)
{
	assert_int_equal(vcpu->vm->guest->cpu, core.index);
	told[vcpu->vm->index]++;
}

static const struct vcpu_operations operations = {.console = console_told};

/* Goes on as a core. */
static void enter(u32 index)
{
	deadlines[core.index] = *asked.deadline;
	rounds[core.index] = relay_round;
	core.index = index;
	*asked.deadline = deadlines[index];
	relay_round = rounds[index];
	log_console = &logs[index];
	core.vcpu_count = 0;
	for (u32 i = 0; i < GUESTS; i++) {
		vms[i].console = &guest_consoles[index][i];
		if (guests[i].cpu != index)
			continue;
		vcpus[core.vcpu_count] = (struct vcpu){.vm = &vms[i], .state = VCPU_RUNNING,
						       .operations = &operations};
		vms[i].vcpus = &vcpus[core.vcpu_count++];
	}
}

/* What has been asked of a core by now is done; whether there was anything. */
static bool core_step(u32 index)
{
	bool busy = messaged[index];

	enter(index);
	if (messaged[index])
		serve_message(1 - core.index, index == 0 ? MESSAGE_OUTPUT : MESSAGE_INPUT);
	messaged[index] = false;
	if (asked.deadline->time <= processor.tsc) {
		asked.deadline->time = asked.deadline->expire(asked.deadline);
		assert_true(asked.deadline->time > processor.tsc);
		busy = true;
	}
	return busy;
}

/* Five milliseconds: the time of some 200 bytes. */
static void time_passes(void)
{
	for (u32 i = 0; i < 200; i++) {
		processor.tsc += TSC_KHZ / 40;
		for (u32 index = 0; index < CORES; index++)
			while (core_step(index))
				continue;
	}
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(guest_consoles, 0, sizeof(guest_consoles));
	memset(logs, 0, sizeof(logs));
	memset(works, 0, sizeof(works));
	memset(&processor, 0, sizeof(processor));
	memset(told, 0, sizeof(told));
	memset(messaged, 0, sizeof(messaged));
	core = (struct core){.index = 0, .vm_count = GUESTS, .current = &has_core};
	has_core.priority = 0;
	system_table.cpus = CORES;
	system_table.guest_count = GUESTS;
	printed_count = housekeeping = pumped = 0;
	another_is_over = false;
	for (u32 i = 0; i < GUESTS; i++) {
		guests[i].cpu = i == OWN ? 0 : 1;
		vms[i] = (struct vm){.guest = &guests[i], .index = i};
	}
	relay_round = (struct relay_round){0};
	memset(rounds, 0, sizeof(rounds));
	relay_init();
	for (u32 i = 0; i < CORES; i++) {
		deadlines[i] = *asked.deadline;
		outbox_of(i)->alive = 1;
	}
	enter(0);
	return 0;
}

/* The byte at a place of an endless text: no part of it is like the part beside. */
static u8 text_at(u32 place)
{
	return (u8)('!' + place * 7 % 83 + place / 83 % 8);
}

/* As many bytes of the text as the console takes. */
static u32 print(u32 core_index, u32 guest, u32 from, u32 count)
{
	u32 i;

	enter(core_index);
	for (i = 0; i < count; i++)
		if (!console_put(&guest_consoles[core_index][guest],
				 (char)text_at(from + i)))
			break;
	relay_kick();
	return i;
}

static void expect_shown(u32 core_index, u32 guest, u32 from, u32 count)
{
	struct console *console = &guest_consoles[core_index][guest];

	assert_int_equal(console->output_count, count);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(console_pop(console), text_at(from + i));
}

static void output_arrives_in_its_order(void **state)
{
	(void)state;
	assert_int_equal(print(1, OTHER, 0, 1000), 1000);
	for (u32 i = 0; i < 6; i++)
		time_passes();
	expect_shown(1, OTHER, 0, 0);
	expect_shown(0, OTHER, 0, 1000);
	/* Whoever prints learns that there is room again; its own core's guest does not. */
	assert_true(told[OTHER] > 0);
	assert_int_equal(told[OWN] + told[THIRD], 0);
}

static void each_guest_has_its_console(void **state)
{
	(void)state;
	for (u32 i = 0; i < 10; i++) {
		print(1, OTHER, i * 9, 9);
		print(1, THIRD, 500 + i * 7, 7);
		time_passes();
	}
	expect_shown(0, OTHER, 0, 90);
	expect_shown(0, THIRD, 500, 70);
	expect_shown(0, OWN, 0, 0);
	/* What core 0's own guest prints stays there. */
	print(0, OWN, 0, 20);
	time_passes();
	expect_shown(0, OWN, 0, 20);
}

static void nothing_is_lost_where_all_is_full(void **state)
{
	const u32 all = CONSOLE_OUTPUT_SIZE * 2 + OUTPUT_RING;
	u32 put = 0, shown = 0;

	(void)state;
	for (u32 i = 0; i < 1000 && put < all; i++) {
		u32 taken = print(1, OTHER, put, all - put);

		put += taken;
		time_passes();
		if (taken == 0 && guest_consoles[0][OTHER].output_count == CONSOLE_OUTPUT_SIZE)
			break;
	}
	/* Both consoles are full, and the ring between them. */
	assert_int_equal(put, all);
	enter(1);
	assert_int_equal(outbox_of(1)->output_put - outbox_of(0)->output_taken[1], OUTPUT_RING);
	assert_int_equal(guest_consoles[1][OTHER].output_count, CONSOLE_OUTPUT_SIZE);
	assert_int_equal(print(1, OTHER, put, 1), 0);
	assert_false(relay_is_idle());
	while (shown < all) {
		u32 count = guest_consoles[0][OTHER].output_count;

		assert_true(count > 0);
		expect_shown(0, OTHER, shown, count);
		shown += count;
		for (u32 i = 0; i < CONSOLE_OUTPUT_SIZE / 100; i++)
			time_passes();
	}
	assert_int_equal(shown, all);
	enter(1);
	assert_true(relay_is_idle());
}

static bool all_is_out(void)
{
	enter(0);
	return relay_is_idle();
}

/* A guest's output, then a line of a core's log, then what its idle vCPU may still say: each may be
 * the last that there is, wherever it is on its way. */
static void all_is_out_when_no_core_has_any(void **state)
{
	(void)state;
	outbox_of(1)->alive = 1;
	assert_true(all_is_out());
	enter(1);
	assert_true(console_put(&guest_consoles[1][OTHER], 'a'));
	assert_false(all_is_out());
	enter(1);
	relay_flush();
	assert_int_equal(guest_consoles[1][OTHER].output_count, 0);
	assert_false(all_is_out());
	enter(0);
	relay_kick();
	time_passes();
	assert_true(all_is_out());
	assert_true(console_put(&logs[1], 'a'));
	assert_false(all_is_out());
	console_pop(&logs[1]);
	works[1] = HOUSEKEEPING_RELEASE;
	assert_false(all_is_out());
	outbox_of(1)->alive = 0;
	assert_true(all_is_out());
}

/* Of two consoles, so that neither waits for ever. A ring that is full has been told of. */
static void it_gives_up_when_nobody_takes_anything(void **state)
{
	(void)state;
	enter(1);
	outbox_of(1)->output_put = OUTPUT_RING;
	assert_true(console_put(&guest_consoles[1][OTHER], 'a'));
	assert_true(console_put(&logs[1], 'a'));
	relay_flush();
	assert_int_equal(guest_consoles[1][OTHER].output_count, 1);
	assert_int_equal(logs[1].output_count, 1);
	assert_false(messaged[0]);
}

static void what_is_typed_arrives(void **state)
{
	const u32 all = 2 * CONSOLE_INPUT_SIZE;
	struct console *from = &guest_consoles[0][THIRD], *to = &guest_consoles[1][THIRD];
	u32 typed = 0, taken = 0;

	(void)state;
	for (u32 i = 0; i < 1000 && typed < all; i++) {
		enter(0);
		while (typed < all && console_type(from, text_at(typed)))
			typed++;
		relay_kick();
		time_passes();
	}
	assert_int_equal(typed, from->input_count + to->input_count);
	assert_int_equal(from->input_count, CONSOLE_INPUT_SIZE);
	/* As much as leaves room for what may be on its way from all cores. */
	assert_in_range(to->input_count, INPUT_ROOM, INPUT_ROOM + INPUT_RING);
	assert_int_equal(told[THIRD], to->input_count);
	for (u32 i = 0; i < 1000 && taken < all; i++) {
		enter(1);
		while (console_has_input(to))
			assert_int_equal(console_get(to), text_at(taken++));
		enter(0);
		while (typed < all && console_type(from, text_at(typed)))
			typed++;
		time_passes();
	}
	assert_int_equal(taken, all);
	/* What is typed for a guest of this core is its. */
	enter(0);
	assert_true(console_type(&guest_consoles[0][OWN], 'x'));
	relay_kick();
	time_passes();
	assert_int_equal(guest_consoles[0][OWN].input_count, 1);
}

static void log_text_of(u32 core_index, const char *text)
{
	enter(core_index);
	for (; *text != '\0'; text++)
		assert_true(console_put(&logs[core_index], *text));
	relay_kick();
}

/* As the idle vCPU of core 0 does it. */
static void housekeep(void)
{
	enter(0);
	if ((housekeeping & HOUSEKEEPING_RELEASE) != 0)
		relay_print_logs();
	housekeeping = 0;
}

static void log_lines_are_put_together(void **state)
{
	(void)state;
	log_text_of(1, "one");
	time_passes();
	assert_int_equal(housekeeping, 0);
	relay_print_logs();
	assert_int_equal(printed_count, 0);
	log_text_of(1, "\r\n\ttwo\r\nthree\r\n");
	time_passes();
	/* The next is not taken before that is printed. */
	enter(0);
	assert_false(relay_is_idle());
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(printed_count, i);
		housekeep();
		time_passes();
	}
	assert_int_equal(printed_count, 3);
	assert_string_equal(printed[0], "CPU 1: one");
	assert_string_equal(printed[1], "CPU 1: two");
	assert_string_equal(printed[2], "CPU 1: three");
	enter(0);
	assert_true(relay_is_idle());
	assert_int_equal(logs[0].output_count, 0);
}

/* One that is too long is broken, and one that just fits is not. */
static void a_long_log_line_is_broken(void **state)
{
	char text[CONSOLE_LINE_SIZE + 1];

	(void)state;
	memset(text, '-', CONSOLE_LINE_SIZE);
	text[CONSOLE_LINE_SIZE] = '\0';
	log_text_of(1, text);
	log_text_of(1, "\r\n");
	log_text_of(1, text);
	log_text_of(1, "rest\r\n");
	for (u32 i = 0; i < 5; i++) {
		time_passes();
		housekeep();
	}
	assert_int_equal(printed_count, 3);
	for (u32 i = 0; i < 2; i++)
		assert_string_equal(printed[i] + strlen("CPU 1: "), text);
	assert_string_equal(printed[2], "CPU 1: rest");
}

static void a_core_that_stops_flushes(void **state)
{
	(void)state;
	log_text_of(1, "the end\r\n");
	print(1, OTHER, 0, 100);
	enter(1);
	assert_false(relay_is_idle());
	relay_flush();
	assert_true(relay_is_idle());
	assert_true(messaged[0]);
	assert_int_equal(logs[1].output_count, 0);
	enter(0);
	assert_false(relay_is_idle());
	time_passes();
	housekeep();
	time_passes();
	assert_string_equal(printed[0], "CPU 1: the end");
	expect_shown(0, OTHER, 0, 100);
	enter(0);
	assert_true(relay_is_idle());
}

/* Bytes for a guest that does not exist, or is not this core's, hold nothing up. */
static void nonsense_is_passed_by(void **state)
{
	volatile struct outbox *from = outbox_of(1);

	(void)state;
	from->output[0] = GUESTS << 8 | 'x';
	from->output[1] = OTHER << 8 | text_at(0);
	from->output_put = 2;
	from = outbox_of(0);
	from->input[1][0] = GUESTS << 8 | 'x';
	from->input[1][1] = OWN << 8 | 'x';
	from->input[1][2] = OTHER << 8 | 'x';
	from->input_put[1] = 3;
	messaged[0] = messaged[1] = true;
	time_passes();
	expect_shown(0, OTHER, 0, 1);
	assert_int_equal(guest_consoles[1][OTHER].input_count, 1);
	assert_int_equal(guest_consoles[1][OWN].input_count, 0);
	assert_int_equal(outbox_of(0)->output_taken[1], 2);
	assert_int_equal(outbox_of(1)->input_taken[0], 3);
}

static void nothing_moves_before_the_guests_exist(void **state)
{
	(void)state;
	outbox_of(0)->alive = outbox_of(1)->alive = 0;
	print(1, OTHER, 0, 10);
	time_passes();
	expect_shown(0, OTHER, 0, 0);
	assert_int_equal(guest_consoles[1][OTHER].output_count, 10);
	outbox_of(1)->alive = 1;
	time_passes();
	assert_int_equal(guest_consoles[1][OTHER].output_count, 0);
	outbox_of(0)->alive = 1;
	time_passes();
	expect_shown(0, OTHER, 0, 10);
}

/* What a core does while interrupts wait; ticks until it wants to go on. */
static u64 step(u32 index)
{
	enter(index);
	asked.deadline->time = asked.deadline->expire(asked.deadline);
	return asked.deadline->time - processor.tsc;
}

/* One turn of a core: until it has moved and shown something, or asked all. */
static u64 turn(u32 index)
{
	u64 longest = step(index);

	while (relay_round.asked != 0 || relay_round.unshown) {
		u64 rest = step(index);

		longest = rest > longest ? rest : longest;
	}
	return longest;
}

/* Who would begin later by it is not kept waiting, and in a millisecond others are not either: what
 * an RTOS prints that never halts moves in bursts. */
static void it_waits_for_an_rtos_and_not_for_ever(void **state)
{
	(void)state;
	print(1, OTHER, 0, 8);
	has_core.priority = 5;
	for (u32 round = 0; round < 3; round++) {
		for (u32 i = 0; i < 10; i++)
			assert_int_equal(step(1), TSC_KHZ / 10);
		for (u32 i = 0; i < 10; i++)
			assert_true(step(1) != TSC_KHZ / 10);
	}
	assert_int_equal(outbox_of(1)->output_put, 8);
	has_core.priority = 0;
	time_passes();
	expect_shown(0, OTHER, 0, 8);
}

/* Nor is one that the next deadline wakes up, which is over as well. */
static void it_waits_for_a_deadline_that_is_over_too(void **state)
{
	(void)state;
	print(1, OTHER, 0, 8);
	another_is_over = true;
	for (u32 i = 0; i < 10; i++)
		assert_int_equal(step(1), TSC_KHZ / 10);
	assert_true(step(1) != TSC_KHZ / 10);
	another_is_over = false;
	time_passes();
	expect_shown(0, OTHER, 0, 8);
}

static void few_are_asked_at_once(void **state)
{
	u32 sources = 3 + CORES + GUESTS; /* two guests' consoles, and a log */

	(void)state;
	for (u32 sum = 4; sum < sources; sum += 4) {
		assert_int_equal(step(1), TSC_KHZ / 40);
		assert_int_equal(relay_round.asked, sum);
	}
	assert_true(step(1) == TIME_NEVER - processor.tsc);
	/* What comes in the middle of it is not overlooked. */
	step(1);
	print(1, OTHER, 0, 4);
	for (u32 i = 0; i * 4 < sources; i++)
		step(1);
	assert_int_equal(outbox_of(1)->output_put, 4);
	/* What has come is shown in a step of its own. */
	while (outbox_of(0)->output_taken[1] == 0)
		step(0);
	assert_int_equal(pumped, 0);
	step(0);
	assert_int_equal(pumped, 1);
}

static void few_bytes_move_at_once(void **state)
{
	(void)state;
	assert_int_equal(asked.deadline->priority, 0);
	print(1, OTHER, 0, 9);
	for (u32 i = 1; i <= 3; i++) {
		assert_int_equal(turn(1), TSC_KHZ / 20);
		assert_int_equal(outbox_of(1)->output_put, minimum(i * 4, 9));
	}
	assert_true(turn(1) == TIME_NEVER - processor.tsc);
	for (u32 i = 1; i <= 3; i++) {
		assert_int_equal(turn(0), TSC_KHZ / 20);
		assert_int_equal(guest_consoles[0][OTHER].output_count, minimum(i * 4, 9));
		assert_int_equal(pumped, i);
	}
	for (u32 i = 0; i < 9; i++)
		assert_true(console_type(&guest_consoles[0][OTHER], text_at(i)));
	for (u32 i = 1; i <= 3; i++) {
		assert_int_equal(turn(0), TSC_KHZ / 20);
		assert_int_equal(outbox_of(0)->input_put[1], minimum(i * 4, 9));
	}
	for (u32 i = 1; i <= 3; i++) {
		assert_int_equal(turn(1), TSC_KHZ / 20);
		assert_int_equal(guest_consoles[1][OTHER].input_count, minimum(i * 4, 9));
	}
}

/* A core that can move nothing tries again a millisecond later. */
static void who_is_held_up_waits_longer(void **state)
{
	(void)state;
	print(1, OTHER, 0, OUTPUT_RING + 1);
	for (u32 i = 0; i < OUTPUT_RING / 4; i++)
		assert_int_equal(turn(1), TSC_KHZ / 20);
	assert_int_equal(turn(1), TSC_KHZ);
	print(0, OTHER, 0, CONSOLE_OUTPUT_SIZE);
	assert_int_equal(turn(0), TSC_KHZ);
	for (u32 i = 0; i <= INPUT_RING; i++)
		assert_true(console_type(&guest_consoles[0][THIRD], 'x'));
	for (u32 i = 0; i < INPUT_RING / 4; i++)
		assert_int_equal(turn(0), TSC_KHZ / 20);
	assert_int_equal(turn(0), TSC_KHZ);
	assert_int_equal(outbox_of(0)->output_taken[1], 0);
}

/* What is printed by a guest whose console is filled again as soon as it has room does not keep
 * back what another one of its core prints, nor the log of the core. */
static void who_prints_without_end_keeps_nobody_back(void **state)
{
	u32 put = 0;

	(void)state;
	print(1, THIRD, 500, 70);
	log_text_of(1, "heard\r\n");
	for (u32 i = 0; i < 200; i++) {
		put += print(1, OTHER, put, CONSOLE_OUTPUT_SIZE);
		turn(1);
		turn(0);
		guest_consoles[0][OTHER].output_count = 0;
	}
	assert_true(put > CONSOLE_OUTPUT_SIZE);
	expect_shown(0, THIRD, 500, 70);
	housekeep();
	assert_string_equal(printed[0], "CPU 1: heard");
}

/* Neither does it keep back what is typed for others. */
static void who_prints_without_end_keeps_no_keyboard_back(void **state)
{
	volatile struct outbox *from = outbox_of(1);

	(void)state;
	assert_true(console_type(&guest_consoles[0][THIRD], 'x'));
	for (u32 i = 0; i < 20 && outbox_of(0)->input_put[1] == 0; i++) {
		for (u32 byte = 0; byte < 8; byte++)
			from->output[from->output_put++ % OUTPUT_RING] = OTHER << 8 | 'y';
		turn(0);
	}
	assert_int_equal(outbox_of(0)->input_put[1], 1);
}

static void who_never_reads_keeps_nobody_back(void **state)
{
	(void)state;
	for (u32 i = 0; i < 3; i++) {
		enter(0);
		while (console_type(&guest_consoles[0][THIRD], 'x'))
			continue;
		relay_kick();
		for (u32 wait = 0; wait < 10; wait++)
			time_passes();
	}
	assert_int_equal(guest_consoles[0][THIRD].input_count, CONSOLE_INPUT_SIZE);
	assert_int_equal(relay_type(&vms[THIRD], (const u8 *)"x", 1), 0);
	assert_true(console_type(&guest_consoles[0][OTHER], 'y'));
	relay_kick();
	time_passes();
	assert_int_equal(guest_consoles[1][OTHER].input_count, 1);
	enter(0);
	assert_int_equal(relay_type(&vms[OTHER], (const u8 *)"y", 1), 1);
	time_passes();
	assert_int_equal(guest_consoles[1][OTHER].input_count, 2);
}

/* Also if its own core's guest has filled its console meanwhile: then a byte is lost. */
static void a_console_that_is_full_all_the_same_loses_its_bytes(void **state)
{
	(void)state;
	enter(0);
	assert_int_equal(relay_type(&vms[THIRD], (const u8 *)"xx", 2), 2);
	assert_int_equal(relay_type(&vms[OTHER], (const u8 *)"y", 1), 1);
	enter(1);
	while (console_type(&guest_consoles[1][THIRD], 'z'))
		continue;
	time_passes();
	assert_int_equal(guest_consoles[1][THIRD].input_count, CONSOLE_INPUT_SIZE);
	assert_int_equal(guest_consoles[1][OTHER].input_count, 1);
	assert_int_equal(outbox_of(1)->input_taken[0], 3);
}

/* A core that has not come up has no memory to look at. */
static void nobody_types_to_a_core_that_is_not_there(void **state)
{
	(void)state;
	outbox_of(1)->alive = 0;
	assert_true(console_type(&guest_consoles[0][THIRD], 'x'));
	assert_int_equal(turn(0), TSC_KHZ);
	assert_int_equal(outbox_of(0)->input_put[1], 0);
	outbox_of(1)->alive = 1;
	assert_int_equal(turn(0), TSC_KHZ / 20);
	assert_int_equal(outbox_of(0)->input_put[1], 1);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(output_arrives_in_its_order),
		TEST(each_guest_has_its_console),
		TEST(nothing_is_lost_where_all_is_full),
		TEST(all_is_out_when_no_core_has_any),
		TEST(what_is_typed_arrives),
		TEST(log_lines_are_put_together),
		TEST(a_long_log_line_is_broken),
		TEST(a_core_that_stops_flushes),
		TEST(it_gives_up_when_nobody_takes_anything),
		TEST(nonsense_is_passed_by),
		TEST(it_waits_for_an_rtos_and_not_for_ever),
		TEST(it_waits_for_a_deadline_that_is_over_too),
		TEST(few_are_asked_at_once),
		TEST(few_bytes_move_at_once),
		TEST(who_is_held_up_waits_longer),
		TEST(who_prints_without_end_keeps_nobody_back),
		TEST(who_prints_without_end_keeps_no_keyboard_back),
		TEST(who_never_reads_keeps_nobody_back),
		TEST(a_console_that_is_full_all_the_same_loses_its_bytes),
		TEST(nobody_types_to_a_core_that_is_not_there),
		TEST(nothing_moves_before_the_guests_exist),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	relay_init();
	return RUN_TESTS(tests);
}
