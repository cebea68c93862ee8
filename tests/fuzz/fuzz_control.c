/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what guests may ask of the VMM about each other: the hypercalls of control.c
 * with any registers from any guest, and with them the life of guests (vm.c), their
 * channels and consoles, between commands of the VMM's own console, faults, resets,
 * watchdogs, and all of that while the idle vCPU is loading a guest. The machine
 * around them is made up here, and objects to whatever is written outside of where
 * it belongs. What must always hold is checked after each step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "last_words.h"
#include "no_boot.h"
#include "fake/asked.h"

#include "core/channel.h"
#include "core/core.h"
#include "core/epoch.h"
#include "fake/kind.h"

#include "guests/x86/linux.h"
#include "core/hypercall.h"
#include "core/idle.h"
#include "core/interrupt.h"
#include "core/loader.h"
#include "core/log.h"
#include "arch/ia32/memory.h"
#include "core/pool.h"
#include "core/module.h"
#include "guests/x86/x86.h"
#include "core/remote.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "arch/ia32/fpu.h"
#include "arch/ia32/segment.h"
#include "arch/ia32/switch.h"
#include "arch/ia32/masked_sections.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* MANAGER is a Linux that may manage others, LINUX is one that may not; A and B are
 * RTOSes, B without room for another image than its own. */
enum { MANAGER, LINUX, A, B, GUESTS };

#define CHANNELS 3u
#define ROOM 0x700u
#define MEMORY 0x4000u      /* of each guest */
#define FRAMES 100u
#define FRAMES_OF_GUEST 7u  /* what each takes from the pool while it lives */
#define CALLER_MEMORY 0x1000u
/* Physical addresses. */
#define MODULE 0x1000000u
#define IMAGES 0x4000u      /* in the module; one guest's store after the other */
#define GUEST_BASE(i) (0x2000000u + (i) * 0x100000u)
#define CHANNEL_BASE(i) (0x3000000u + (i) * 0x10000u)

struct console_mux consoles;
struct console *log_console;
u32 time_tsc_khz = 1000;
u32 pool_frames = FRAMES, pool_available;

struct gandalf_table system_table;
u32 module_base = MODULE;
static struct gandalf_shared shared[GUESTS];
static struct frame frames[GUESTS];
static struct x86 pcs[2];
static u8 stores[GUESTS][ROOM];
static u8 caller_memory[CALLER_MEMORY]; /* of whoever makes a hypercall, from 0 up */
static u32 channel_indices[CHANNELS][4];
/* A life has ended, and the channel still has its bytes; it has been emptied since the last
 * load. */
static bool owed[GUESTS][CHANNELS], renewed[CHANNELS];
static u32 frames_taken[GUESTS];
static struct input input;
static struct vcpu *caller;      /* during a hypercall */
static struct vm *loading;       /* whom the idle vCPU has loaded last */
static bool loaded[GUESTS];      /* the memory of guest n has been written */
static u32 seen[GUESTS];         /* the state of guest n at the last check */

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* The idle vCPU does its work; between its steps others run. */
static bool is_at_work(void)
{
	return core.housekeeping & HOUSEKEEPING_BUSY;
}

static u32 take(unsigned bytes)
{
	return input_take(&input, bytes);
}

/* Mostly something that makes sense, or nearly so. */
static u32 take_word(void)
{
	static const u32 values[] = { 0, 1, ROOM, ROOM - 1, MEMORY, MEMORY - GANDALF_PAGE_SIZE,
				      CALLER_MEMORY - 4, CALLER_MEMORY, GANDALF_CONSOLE_RING,
				      0x7fffffff, 0x80000000, GANDALF_BASE - 4, UINT32_MAX - 511,
				      UINT32_MAX, sizeof(*trace_rings), GANDALF_CONTROL_CHUNK };
	u32 what = take(1);

	switch (what >> 6) {
	case 0:
		return what & 63;
	case 1:
		return (what & 63) << 8 | take(1);
	case 2:
		return values[what % ARRAY_SIZE(values)];
	default:
		return take(4);
	}
}

/* The machine around the VMM's code */

/*
 * Own stand-ins: in the middle of schedule_admit() other guests go on; memory_copy(),
 * memory_copy_out() and memory_zero() look whose memory it is; log_line(), trace() and report()
 * are what the guests can read; pool_count(), schedule_housekeeping(), schedule_waits() and
 * switch_create() are this machine.
 */
void log_line(const char *pattern, ...)
{
	va_list arguments;
	char line[160];

	require(!processor.interrupts);
	va_start(arguments, pattern);
	vsnprintf(line, sizeof(line), pattern, arguments);
	va_end(arguments);
	for (const char *at = line; *at != '\0'; at++)
		console_put_dropping(&consoles, log_console, *at);
	console_put_dropping(&consoles, log_console, '\n');
}

static bool is_side(u32 channel, u32 index)
{
	const struct gandalf_table_channel *of = &system_table.channels[channel];

	return of->guests[0] == index || of->guests[1] == index;
}

/* Its channels have begun a new epoch, and while it lives it takes frames from the pool. */
static void guest_begins_or_ends(u32 index, bool begins)
{
	if (begins) {
		/* What its last life held has been given back. */
		require(frames_taken[index] == 0 && !vms[index].unreleased && loaded[index]);
		/* Nobody has stopped it while it was loaded. */
		require(seen[index] == GANDALF_STATE_STARTING);
		frames_taken[index] = FRAMES_OF_GUEST;
		pool_available -= FRAMES_OF_GUEST;
	}
	for (u32 i = 0; i < CHANNELS; i++) {
		if (!is_side(i, index))
			continue;
		require(!begins || (renewed[i] && !owed[index][i]));
		owed[index][i] = !begins;
	}
}

void trace(enum trace_type type, u32 first, u32 second)
{
	if (type == TRACE_start || type == TRACE_stop)
		guest_begins_or_ends(first, type == TRACE_start);
	trace_fast(core.current, type, first, second);
}

void report(struct vm *vm)
{
	require(!processor.interrupts);
	snprintf(vm->report, GANDALF_REPORT_SIZE, "guest %s stopped: %s", vm->guest->name,
		 vm->reason);
}

/* Linux is not there while the idle vCPU loads, so nobody writes an image then. */
static u8 *store_of(u32 physical, u32 size)
{
	u32 offset = physical - MODULE - IMAGES;

	require(physical >= MODULE + IMAGES && offset / ROOM < GUESTS);
	require(offset % ROOM + size <= ROOM);
	return &stores[0][0] + offset;
}

static void write_channel(u32 index, const u32 *indices, u32 size)
{
	require(size == sizeof(channel_indices[index]));
	require(indices[0] == indices[1] && indices[1] == indices[2] && indices[2] == indices[3]);
	require(indices[0] % GANDALF_CHANNEL_EPOCH == 0);
	require(indices[0] == channel_indices[index][0] + GANDALF_CHANNEL_EPOCH);
	memcpy(channel_indices[index], indices, size);
	require(is_at_work());
	renewed[index] = true;
	for (u32 i = 0; i < GUESTS; i++)
		owed[i][index] &= vms[i].vcpus->state != VCPU_OFF;
}

void memory_copy_out(u32 to, const void *from, u32 size)
{
	for (u32 i = 0; i < CHANNELS; i++)
		if (to == system_table.channels[i].base) {
			write_channel(i, from, size);
			return;
		}
	require(caller == vms[MANAGER].vcpus && !is_at_work());
	/* Of the guest that the register names, and only while that one is down. */
	require(store_of(to, size) == stores[caller->frame->ebx >> GANDALF_PLACE_SHIFT] +
				      caller->frame->esi);
	require(!vm_is_alive(&vms[caller->frame->ebx >> GANDALF_PLACE_SHIFT]));
	memcpy(store_of(to, size), from, size);
}

/* The memory of one guest that is down, by the idle vCPU. */
static void write_guest(u32 to, u32 size)
{
	u32 index = (to - GUEST_BASE(0)) / (GUEST_BASE(1) - GUEST_BASE(0));

	require(is_at_work() && index < GUESTS);
	require(size <= MEMORY && to - GUEST_BASE(index) <= MEMORY - size);
	require(vms[index].vcpus->state == VCPU_OFF && frames_taken[index] == 0);
	loading = &vms[index];
	loaded[index] = true;
	for (u32 i = 0; i < CHANNELS; i++)
		renewed[i] &= !is_side(i, index);
}

void memory_zero(u32 physical, u32 size)
{
	write_guest(physical, size);
}

void memory_copy(u32 to, u32 from, u32 size)
{
	write_guest(to, size);
	require(store_of(from, size) >= stores[loading->index]);
	require(store_of(from, size) + size <= stores[loading->index] + ROOM);
}

u32 pool_count(void)
{
	require(processor.interrupts);
	return pool_available;
}

/* A part of the caller's memory is absent. */
static bool is_callers(u32 linear, u32 size)
{
	return linear <= CALLER_MEMORY && size <= CALLER_MEMORY - linear;
}

static bool guest_read(u32 linear, void *to, u32 size)
{
	require(caller == vms[MANAGER].vcpus);
	if (is_callers(linear, size))
		memcpy(to, caller_memory + linear, size);
	return is_callers(linear, size);
}

/* As the real one takes for granted: there is a first and a last byte, less than a page apart. */
static bool guest_write(u32 linear, const void *from, u32 size)
{
	require(caller == vms[MANAGER].vcpus && size > 0 && size < GANDALF_PAGE_SIZE);
	if (is_callers(linear, size))
		memcpy(caller_memory + linear, from, size);
	return is_callers(linear, size);
}

/* As in an image for one CPU. */
void epoch_begin(u32 channel)
{
	static u32 epochs[GANDALF_CHANNELS_MAXIMUM];

	epoch_write(channel, ++epochs[channel]);
}

void schedule_housekeeping(u32 work)
{
	require(!processor.interrupts);
	core.housekeeping |= work;
}

bool schedule_waits(struct vcpu *vcpu)
{
	(void)vcpu;
	return take(1) & 1;
}

bool switch_create(struct vcpu *vcpu)
{
	vcpu->frame = &frames[vcpu->id];
	return true;
}

void processor_sleep(void)
{
	abort();
}

static bool ring(const struct vm *vm)
{
	require(!processor.interrupts);
	return vm->state == GANDALF_STATE_RUNNING;
}

static u32 rtos_ring(const struct vm *vm)
{
	require(vm->kind->real_time);
	return ring(vm) ? 0 : (u32)GANDALF_ERROR_ARGUMENT;
}

static u32 guest_ring(const struct vm *vm)
{
	require(!vm->kind->real_time);
	return ring(vm) ? 0 : (u32)GANDALF_ERROR_ARGUMENT;
}

static void operation_start(struct vcpu *vcpu)
{
	require(vcpu->state == VCPU_OFF && vcpu->vm->entry < MEMORY);
}

static void operation_stop(struct vcpu *vcpu)
{
	require(!processor.interrupts && vcpu->state == VCPU_OFF);
}

static void operation_release(struct vcpu *vcpu)
{
	u32 *taken = &frames_taken[vcpu->vm->index];

	require(vcpu->state == VCPU_OFF);
	pool_available += *taken;
	*taken = 0;
}

static void operation_console(struct vcpu *vcpu)
{
	require(vm_is_alive(vcpu->vm));
}

static u32 operation_instruction(struct vcpu *vcpu, u8 *to, u32 size)
{
	(void)vcpu;
	memset(to, 0x90, size);
	return size;
}

static const struct vcpu_operations operations = {
	.start = operation_start,
	.stop = operation_stop,
	.release = operation_release,
	.console = operation_console,
	.instruction = operation_instruction,
};

static bool guest_create(struct vm *vm)
{
	vm->vcpus->x86 = &pcs[vm->index - MANAGER];
	vm->vcpus->x86->vm = vm;
	vm->vcpus->operations = &operations;
	vm->vcpus->shared = &shared[vm->index];
	return true;
}

static bool rtos_create(struct vm *vm)
{
	vm->vcpus->operations = &operations;
	vm->vcpus->shared = &shared[vm->index];
	return true;
}

static const struct guest_kind linux_kind = {
	.number = GANDALF_KIND_LINUX_SHARED, .create = guest_create, .ring = guest_ring,
	.act = vm_act_here, .read = guest_read, .write = guest_write,
};
static const struct guest_kind rtos_kind = {
	.number = GANDALF_KIND_RTOS, .real_time = true, .create = rtos_create, .ring = rtos_ring,
	.act = vm_act_here,
};
GUEST_KIND(linux_kind);
GUEST_KIND(rtos_kind);

/* What must hold between any two steps */

static void check_image(const struct vm *vm)
{
	const struct gandalf_image *image = &vm->image;

	require(image->guest == vm->index && image->room == ROOM - 0x100 * (vm->index == B));
	if (image->memory_size == 0)
		return;
	require(image->file_size <= image->room && image->file_size <= image->memory_size);
	require((u64)image->load_address + image->memory_size <= MEMORY - GANDALF_PAGE_SIZE);
	require(vm->entry < image->load_address + image->memory_size);
}

static void check_guest(const struct vm *vm)
{
	enum vcpu_state state = vm->vcpus->state;

	require(vm->guest == &system_table.guests[vm->index] && vm->vcpus->vm == vm);
	switch (vm->state) {
	case GANDALF_STATE_RUNNING:
		require(state == VCPU_RUNNING || state == VCPU_HALTED);
		break;
	case GANDALF_STATE_PAUSED:
		require(state == VCPU_PAUSED);
		break;
	case GANDALF_STATE_STARTING:
		require(core.housekeeping & HOUSEKEEPING_START || is_at_work());
		require(vm->image.memory_size != 0);
		/* fall through */
	case GANDALF_STATE_OFF:
	case GANDALF_STATE_STOPPED:
		require(state == VCPU_OFF);
		require(frames_taken[vm->index] == 0 || vm->unreleased);
		break;
	default:
		abort();
	}
	require(!vm->unreleased || core.housekeeping & HOUSEKEEPING_RELEASE || is_at_work());
	for (u32 i = 0; i < CHANNELS; i++)
		require(!owed[vm->index][i] || vm->unreleased);
	require(vm->fault_restarts <= vm->guest->restart_limit);
	require(strlen(vm->reason) < sizeof(vm->reason));
	check_image(vm);
}

static void check(void)
{
	u32 taken = 0;

	for (u32 i = 0; i < GUESTS; i++) {
		check_guest(&vms[i]);
		taken += frames_taken[i];
		seen[i] = vms[i].state;
	}
	require(pool_available + taken == FRAMES);
}

/* Steps */

/* What no hypercall may change but for whoever it is allowed to. */
struct state {
	u32 states[GUESTS], entries[GUESTS];
	struct gandalf_image images[GUESTS];
	u8 stores[GUESTS][ROOM];
};

static void state_keep(struct state *state)
{
	memset(state, 0, sizeof(*state));
	for (u32 i = 0; i < GUESTS; i++) {
		state->states[i] = vms[i].state;
		state->entries[i] = vms[i].entry;
		state->images[i] = vms[i].image;
	}
	memcpy(state->stores, stores, sizeof(stores));
}

static bool is_result(s32 result)
{
	switch (result) {
	case GANDALF_ERROR_PERMISSION:
	case GANDALF_ERROR_STATE:
	case GANDALF_ERROR_IMAGE:
	case GANDALF_ERROR_BUSY:
	case GANDALF_ERROR_SPACE:
	case GANDALF_ERROR_ARGUMENT:
		return true;
	}
	return result >= 0 && result <= GANDALF_CONTROL_CHUNK;
}

/* Who was not the target is as before, but for a caller with a bad pointer. */
static void check_others(const struct state *before, const struct vm *from, bool may_manage,
			 bool has_pointer)
{
	static struct state after;
	u32 target = from->vcpus->frame->ebx >> GANDALF_PLACE_SHIFT;

	state_keep(&after);
	for (u32 i = 0; i < GUESTS; i++) {
		bool managed = may_manage && i == target && i != from->index;

		require(managed || (i == from->index && has_pointer) ||
			after.states[i] == before->states[i]);
		require(managed || after.entries[i] == before->entries[i]);
		require(managed || !memcmp(&after.images[i], &before->images[i],
					   sizeof(after.images[i])));
		require(managed || !memcmp(after.stores[i], before->stores[i], ROOM));
	}
}

static void step_hypercall(struct vm *vm)
{
	static const u32 numbers[] = { GANDALF_HYPERCALL_READ, GANDALF_HYPERCALL_WRITE,
				       GANDALF_HYPERCALL_ACT, GANDALF_HYPERCALL_ACT,
				       GANDALF_HYPERCALL_WRITE, GANDALF_HYPERCALL_ALIVE,
				       GANDALF_HYPERCALL_DOORBELL, GANDALF_HYPERCALL_NULL };
	static struct state before;
	u32 what = take(1), place = take(1);
	struct frame *frame = vm->vcpus->frame;
	bool control, acts, reads;

	memset(frame, 0, sizeof(*frame));
	frame->ecx = take_word();
	frame->edx = take_word();
	frame->esi = take_word();
	frame->eax = what & 0x80 ? take_word() : numbers[what % ARRAY_SIZE(numbers)];
	frame->ebx = place & 0x80 ? take_word() :
				    (what >> 3 & 7) | (place % 7) << GANDALF_PLACE_SHIFT;
	if (frame->eax == GANDALF_HYPERCALL_DOORBELL)
		frame->ebx = place;
	control = frame->eax >= GANDALF_HYPERCALL_READ && frame->eax <= GANDALF_HYPERCALL_ACT;
	acts = frame->eax == GANDALF_HYPERCALL_ACT;
	reads = frame->eax == GANDALF_HYPERCALL_READ;
	state_keep(&before);
	caller = vm->vcpus;
	processor.interrupts = !vm->kind->real_time;
	core.current = caller;
	frame->eax = trap_hypercall(frame);
	work_mask(return_to_guest);
	caller = NULL;
	if (vm->state == GANDALF_STATE_RUNNING)
		require(is_result((s32)frame->eax));
	if (control && vm->index != MANAGER)
		require((s32)frame->eax == GANDALF_ERROR_PERMISSION);
	/* A number that does not exist stops the caller as well. */
	check_others(&before, vm, control && !reads && vm->index == MANAGER, !acts);
}

/* By the guest itself. */
static void step_end(struct vm *vm, u32 how)
{
	if (vm->state != GANDALF_STATE_RUNNING)
		return;
	switch (how % 4) {
	case 0:
		vm_reboot(vm);
		break;
	case 1:
		vm_power_off(vm);
		break;
	case 2:
		vm_stop(vm, "%s, and a text that is longer than the room for a reason, for "
			"a sentence must be cut then: %x", "it did what it must not", how);
		break;
	default:
		vm->vcpus->state = vm->vcpus->state == VCPU_HALTED ? VCPU_RUNNING : VCPU_HALTED;
	}
}

/* While the VMM works for a guest, a stop has to wait for the end of that. */
static void step_command(struct vm *vm, u32 action, bool working)
{
	if (working && vm->state == GANDALF_STATE_RUNNING) {
		vm->vcpus->working = true;
		vm_act(vm, action);
		require(vm->state == GANDALF_STATE_RUNNING);
		vm->vcpus->working = false;
		step_end(vm, take(1));
		if (vm->halt_wanted)
			vm_halt_wanted(vm);
		require(!vm->halt_wanted);
	} else {
		vm_act(vm, action);
	}
}

/* As the timer interrupt does it. */
static void step_time(void)
{
	processor.tsc += take_word();
	for (u32 i = 0; i < GUESTS; i++) {
		struct deadline *deadline = &vms[i].watchdog;

		if (deadline->time > processor.tsc)
			continue;
		deadline->time = deadline->expire(deadline);
		require(deadline->time > processor.tsc);
	}
}

/* What may happen while the idle vCPU loads: no Linux runs then, but interrupts come. */
static void step_any_time(u32 what)
{
	struct vm *vm = &vms[what % GUESTS];

	switch (what >> 3 & 7) {
	case 0:
		step_time();
		break;
	case 1:
	case 2:
		if (vm->kind->real_time || !is_at_work())
			step_end(vm, what >> 6 | take(1));
		break;
	default:
		step_command(vm, take(1) % 8, !is_at_work() && what & 0x80);
	}
	check();
}

void schedule_admit(void)
{
	u32 what = take(1);

	if ((what & 3) == 3)
		step_any_time(take(1));
	if ((what & 7) == 7 && vms[A].state == GANDALF_STATE_RUNNING)
		step_hypercall(&vms[A]);
	check();
	processor.interrupts = false;
}

/* The idle vCPU's turn. */
static void step_housekeeping(void)
{
	u32 work = core.housekeeping;

	core.housekeeping = HOUSEKEEPING_BUSY;
	housekeeping_of_guests(work);
	core.housekeeping &= ~HOUSEKEEPING_BUSY;
	check();
}

static void step(void)
{
	u32 what = take(1);
	struct vm *vm = &vms[what >> 2 & 1 ? MANAGER : what >> 3 & 3];

	processor.interrupts = false;
	if ((what & 3) == 0)
		step_any_time(take(1));
	else if ((what & 3) == 1)
		step_housekeeping();
	else if (vm->state == GANDALF_STATE_RUNNING)
		step_hypercall(vm);
	check();
}

static void table_make(void)
{
	memset(&system_table, 0, sizeof(system_table));
	system_table.guest_count = system_table.image_count = GUESTS;
	for (u32 i = 0; i < GUESTS; i++) {
		struct gandalf_guest *guest = &system_table.guests[i];

		snprintf(guest->name, sizeof(guest->name), "guest%u", i);
		guest->kind = i < A ? GANDALF_KIND_LINUX_SHARED : GANDALF_KIND_RTOS;
		guest->priority = i < A ? 0 : 5 * i;
		guest->memory_base = GUEST_BASE(i);
		guest->memory_size = MEMORY;
		guest->flags = i == MANAGER ? GANDALF_GUEST_CONTROL : 0;
		guest->watchdog_ms = i == LINUX ? 0 : 20 * (i + 1);
		guest->restart_limit = 3;
		guest->on_fault = guest->on_reboot =
			i == B ? GANDALF_POLICY_STOP : GANDALF_POLICY_RESTART;
		system_table.images[i] = (struct gandalf_image){
			.guest = i, .offset = IMAGES + i * ROOM, .file_size = 0x200,
			.memory_size = 0x300, .room = ROOM - 0x100 * (i == B),
		};
	}
	system_table.channel_count = CHANNELS;
	for (u32 i = 0; i < CHANNELS; i++)
		system_table.channels[i] = (struct gandalf_table_channel){
			.base = CHANNEL_BASE(i), .size = 0x1000,
			.guests = { i == 1 ? A : MANAGER, i == 0 ? A : B },
		};
}

static void start(void)
{
	memset(&core, 0, sizeof(core));
	memset(&processor, 0, sizeof(processor));
	memset(vcpus, 0, sizeof(vcpus));
	memset(vms, 0, sizeof(vms));
	memset(stores, 0, sizeof(stores));
	memset(owed, 0, sizeof(owed));
	memset(renewed, 0, sizeof(renewed));
	memset(frames_taken, 0, sizeof(frames_taken));
	memset(loaded, 0, sizeof(loaded));
	pool_available = FRAMES;
	processor.tsc = 1000000;
	table_make();
	console_mux_init(&consoles);
	log_console = console_add(&consoles, "vmm");
	vm_create_all();
	for (u32 i = 0; i < core.vcpu_count; i++)
		hypercalls_give(&vcpus[i]);
	require(core.vcpu_count == GUESTS);
	core.current = vms[MANAGER].vcpus;
	check();
	step_housekeeping();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input = (struct input){ NULL, 0 };
	start();
	input = (struct input){ data, size };
	while (input.size > 0)
		step();
	processor.interrupts = false;
	while (core.housekeeping != 0)
		step_housekeeping();
	for (u32 i = 0; i < GUESTS; i++)
		require(vms[i].state != GANDALF_STATE_STARTING && !vms[i].unreleased);
	return 0;
}
