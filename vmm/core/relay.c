/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries the bytes of consoles between cores. What a guest puts out goes from the console that it
 * has on its own core through a ring to the one that it has on core 0, whose multiplexer shows it;
 * what is typed goes the other way. The log of another core's instance is put together to lines,
 * which core 0 logs with the number of the core.
 *
 * A deadline moves a few bytes at a time, as long as there are any. Where the next ring or console
 * is full they stay where they are, and are tried again a millisecond later. It is an interrupt, so
 * it asks a few only of all that may have bytes, and shows what has come the next time.
 *
 * A guest that prints without end, or never reads, must not keep back the bytes of others. So all
 * that has bytes takes turns, and nothing is put into a ring of input for which the guest may have
 * no room at the other end.
 */
#include "core/relay.h"

#include "arch.h"
#include "core/core.h"
#include "core/instances.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/schedule.h"
#include "core/time.h"
#include "device/console_buffer.h"
#include "lib/owner.h"

/* Bytes that are moved while interrupts wait, and how often in a millisecond; twice as often where
 * none were, but some may be left. */
#define STEP 4u
#define RATE 20u
/* How many are asked for their bytes at once, and how many of those that are held up, which takes
 * longest of all. */
#define ASKED_AT_ONCE 4u
#define BLOCKED_AT_ONCE 2u
/* How often this waits for an RTOS that has the core, and how often in a millisecond it looks. If
 * the RTOS has it still this is done so often; then it waits again. */
#define RTOS_WAITS 10u
#define RTOS_RATE 10u
#define RTOS_BURST 10u
/* How often a core that stops tries to send what it has put out. Each try takes some 100
 * instructions. */
#define FLUSH_TRIES 10000000u

/* UNKNOWN: not all have been asked. */
enum outcome { NOTHING, MOVED, BLOCKED, UNKNOWN };

/* On core 0, the line of another instance's log. */
struct log_line {
	u32 length;
	bool complete; /* it is to be printed before more of it is taken */
	char text[CONSOLE_LINE_SIZE + 1];
};

OF_CORE static struct deadline again;
OF_CORE static struct log_line lines[GANDALF_CPUS_MAXIMUM];
OF_CORE struct relay_round relay_round;
OF_CORE static u32 rtos_waits; /* how often this has waited for an RTOS, or been done since */

/* The interrupt is not at once: what has kicked may have delayed an RTOS already, which would be
 * delayed once more. */
void relay_kick(void)
{
	relay_round.asked = 0;
	if (!deadline_is_set(&again))
		deadline_set(&again, rdtsc() + time_tsc_khz / RATE);
}

/* --- To core 0 --- */

static bool output_put(u16 entry)
{
	volatile struct outbox *own = outbox_own();

	if (own->output_put - outbox_of(0)->output_taken[core.index] == OUTPUT_RING)
		return false;
	own->output[own->output_put % OUTPUT_RING] = entry;
	own->output_put++;
	return true;
}

static enum outcome console_send(struct console *console, u32 place)
{
	u32 i;

	if (console->output_count == 0)
		return NOTHING;
	for (i = 0; i < STEP && console->output_count != 0; i++) {
		if (!output_put((u16)(place << 8 | console_peek(console))))
			break;
		console_pop(console);
	}
	if (i == 0)
		return BLOCKED;
	message_send(0, MESSAGE_OUTPUT);
	return MOVED;
}

/* The log is one of them, behind the vCPUs'. */
static enum outcome output_send_of(u32 number)
{
	enum outcome outcome;

	if (number == core.vcpu_count)
		return console_send(log_console, CONSOLE_OF_LOG);
	outcome = console_send(vcpus[number].vm->console, vcpus[number].vm->index);
	if (outcome == MOVED)
		vcpus[number].operations->console(&vcpus[number]);
	return outcome;
}

/* Core 0 takes nothing while its interrupts are a guest's. */
void relay_flush(void)
{
	u32 tries = FLUSH_TRIES;

	for (u32 i = 0; i <= core.vcpu_count; i++)
		while (output_send_of(i) != NOTHING)
			if (--tries == 0)
				return;
}

/* --- On core 0 --- */

/* A byte for which a line has no room is the first of another one. */
static bool log_take(u32 from, u8 byte)
{
	struct log_line *line = &lines[from];
	bool full = line->length == CONSOLE_LINE_SIZE && byte >= ' ';

	if (line->complete)
		return false;
	if (byte >= ' ' && !full)
		line->text[line->length++] = (char)byte;
	line->complete = full || byte == '\n';
	if (line->complete)
		schedule_housekeeping(HOUSEKEEPING_RELEASE);
	return !full;
}

static bool output_show(u32 from, u16 entry)
{
	u32 place = entry >> 8;

	if (place == CONSOLE_OF_LOG)
		return log_take(from, (u8)entry);
	if (place >= system_table.guest_count)
		return true;
	return console_put(vms[place].console, (char)entry);
}

static enum outcome output_take(u32 from)
{
	volatile struct outbox *outbox = outbox_of(from);
	volatile u32 *taken = &outbox_own()->output_taken[from];
	u32 i;

	if (outbox->output_put == *taken)
		return NOTHING;
	for (i = 0; i < STEP && outbox->output_put != *taken; i++, ++*taken)
		if (!output_show(from, outbox->output[*taken % OUTPUT_RING]))
			break;
	relay_round.unshown = i != 0;
	return i != 0 ? MOVED : BLOCKED;
}

void relay_print_logs(void)
{
	for (u32 from = 0; from < system_table.cpus; from++) {
		struct log_line *line = &lines[from];

		if (!line->complete)
			continue;
		line->text[line->length] = '\0';
		log_line("CPU %u: %s", from, line->text);
		line->length = 0;
		line->complete = false;
		relay_kick();
	}
}

/* --- What is typed --- */

/* Whether a guest of another core has room for all that may be on its way to it, from all cores. */
static bool input_has_room(const struct vm *vm)
{
	u32 count;

	core_read(vm->guest->cpu, &count, &vm->console->input_count, sizeof(count));
	return count + GANDALF_CPUS_MAXIMUM * INPUT_RING <= CONSOLE_INPUT_SIZE;
}

static bool input_put(u32 to, u16 entry)
{
	volatile struct outbox *own = outbox_own();

	if (own->input_put[to] - outbox_of(to)->input_taken[core.index] == INPUT_RING)
		return false;
	own->input[to][own->input_put[to] % INPUT_RING] = entry;
	own->input_put[to]++;
	return true;
}

u32 relay_type(const struct vm *vm, const u8 *bytes, u32 size)
{
	u32 done = 0;

	if (!input_has_room(vm))
		return 0;
	while (done < size && input_put(vm->guest->cpu, (u16)(vm->index << 8 | bytes[done])))
		done++;
	message_send(vm->guest->cpu, MESSAGE_INPUT);
	return done;
}

static enum outcome input_send(const struct vm *vm)
{
	u32 to = vm->guest->cpu;
	u32 i;

	if (to == core.index || !console_has_input(vm->console))
		return NOTHING;
	if (outbox_of(to)->alive == 0 || !input_has_room(vm))
		return BLOCKED;
	for (i = 0; i < STEP && console_has_input(vm->console); i++)
		if (!input_put(to, (u16)(vm->index << 8 |
					 console_peek_input(vm->console))) ||
		    console_get(vm->console) < 0)
			break;
	message_send(to, MESSAGE_INPUT);
	return i != 0 ? MOVED : BLOCKED;
}

/* There is room, unless a guest of this core has typed, too: then the byte is lost, as one that is
 * typed on a keyboard whose buffer is full. */
static void input_type(u16 entry)
{
	u32 place = entry >> 8;
	const struct vm *vm = &vms[place];

	if (place >= system_table.guest_count || vm->guest->cpu != core.index)
		return;
	if (console_type(vm->console, (u8)entry) && vm->vcpus->state != VCPU_OFF)
		vm->vcpus->operations->console(vm->vcpus);
}

static enum outcome input_take(u32 from)
{
	volatile struct outbox *outbox = outbox_of(from);
	volatile u32 *taken = &outbox_own()->input_taken[from];
	u32 i;

	if (outbox->input_put[core.index] == *taken)
		return NOTHING;
	for (i = 0; i < STEP && outbox->input_put[core.index] != *taken; i++, ++*taken)
		input_type(outbox->input[core.index][*taken % INPUT_RING]);
	return MOVED;
}

static bool output_is_left(u32 from)
{
	return lines[from].complete ||
	       outbox_of(from)->output_put != outbox_own()->output_taken[from];
}

/* Whether nothing waits on a core for its way to core 0, which is another one: what its guests and
 * its log have put out, and what its idle vCPU may still have to say of them. Guests of other cores
 * put nothing out there. */
static bool core_is_silent(u32 index)
{
	u32 waits, count;

	core_read(index, &waits, &core.housekeeping, sizeof(waits));
	core_read(index, &count, &log_console->output_count, sizeof(count));
	waits |= count;
	for (u32 i = 0; i < system_table.guest_count; i++) {
		schedule_admit();
		core_read(index, &count, &vms[i].console->output_count, sizeof(count));
		waits |= count;
	}
	return waits == 0;
}

bool relay_is_idle(void)
{
	if (core.index != 0)
		return core_is_silent(core.index);
	for (u32 from = 1; from < system_table.cpus; from++)
		if (output_is_left(from) ||
		    (outbox_of(from)->alive != 0 && !core_is_silent(from)))
			return false;
	return true;
}

/* --- All ways --- */

/* How many may have printed bytes: on core 0 every core, on another one each of its consoles. */
static u32 outputs_count(void)
{
	return core.index == 0 ? system_table.cpus : core.vcpu_count + 1;
}

/* What has bytes to move: what is printed, what was typed on each core for this one, and what was
 * typed here for each guest. A core sends nothing to itself. */
static enum outcome source_move(u32 source)
{
	u32 outputs = outputs_count();

	if (source < outputs)
		return core.index == 0 ? output_take(source) : output_send_of(source);
	source -= outputs;
	if (source < system_table.cpus)
		return input_take(source);
	return input_send(&vms[source - system_table.cpus]);
}

static enum outcome move_next(void)
{
	u32 sources = outputs_count() + system_table.cpus + system_table.guest_count;
	struct relay_round *round = &relay_round;
	u32 end = minimum(round->asked + ASKED_AT_ONCE, sources), blocked = 0;
	bool held_up;

	while (round->asked < end && blocked < BLOCKED_AT_ONCE) {
		enum outcome outcome;

		round->turn = round->turn + 1 < sources ? round->turn + 1 : 0;
		outcome = source_move(round->turn);
		if (outcome == MOVED) {
			round->asked = 0;
			return MOVED;
		}
		round->asked++;
		blocked += outcome == BLOCKED;
	}
	held_up = round->held_up || blocked != 0;
	round->held_up = held_up && round->asked < sources;
	if (round->asked < sources)
		return UNKNOWN;
	round->asked = 0;
	return held_up ? BLOCKED : NOTHING;
}

/* An RTOS that has just been woken up, or is about to be by the deadline behind this one, would
 * begin later by all that is done here. */
static bool relay_must_wait(void)
{
	bool rtos_begins = core.current->priority != 0 || deadline_waits();

	if (!rtos_begins || rtos_waits == RTOS_WAITS + RTOS_BURST)
		rtos_waits = 0;
	return rtos_begins && ++rtos_waits <= RTOS_WAITS;
}

static u64 relay_expire(UNUSED struct deadline *deadline)
{
	enum outcome outcome = BLOCKED;

	if (relay_must_wait())
		return rdtsc() + time_tsc_khz / RTOS_RATE;
	if (relay_round.unshown) {
		relay_round.unshown = false;
		log_pump();
		return rdtsc() + time_tsc_khz / (2 * RATE);
	}
	if (outbox_own()->alive != 0) /* else guests are being made */
		outcome = move_next();
	if (outcome == NOTHING)
		return TIME_NEVER;
	if (outcome == UNKNOWN)
		return rdtsc() + time_tsc_khz / (2 * RATE);
	return rdtsc() + (outcome == MOVED ? time_tsc_khz / RATE : time_tsc_khz);
}

void relay_init(void)
{
	deadline_init(&again, relay_expire, 0);
}

static void console_serve(UNUSED u32 from, UNUSED u32 number)
{
	relay_kick();
}
MESSAGES_SERVED(MESSAGE_OUTPUT, 2, console_serve);
