/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives and takes orders from core to core (order.h): how they are given, carried out and answered.
 */
#include "core/order.h"

#include "arch.h"
#include "core/core.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "core/module.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "core/time.h"
#include "elsewhere.h"
#include "lib/crc32.h"
#include "lib/math.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "whole.h"

/* Bytes of an image that are looked at between two looks at more urgent guests. */
#define CHECK_STEP 64u
/* How often in a millisecond another order is tried, which has waited for one before it or for its
 * guest. */
#define RATE 4u

/* Of this core's orders, by guest: the answer has not been fetched. */
OF_CORE static bool waits[GANDALF_GUESTS_MAXIMUM];
/* The cores, as bits, that have given orders which wait, and when one of those is tried. */
OF_CORE static u32 waiting;
/* Of those cores the one, and of this core's vCPUs the one, whose order was tried last. */
OF_CORE static u32 sender, turn;
OF_CORE static struct deadline again;
/* Of this core's guests, as bits: an image is to be compared with its checksum. */
OF_CORE static u32 unchecked;

/* --- The core that gives orders --- */

static bool order_is(const volatile struct order *given, const struct order *order)
{
	return given->action == order->action && given->size == order->size &&
	       given->entry == order->entry && given->crc == order->crc;
}

/* Returns whether the last order for a guest has not been answered. The next one is given behind
 * that only. */
static bool order_is_open(const struct vm *vm)
{
	return outbox_of(vm->guest->cpu)->answers[core.index][vm->index].number !=
	       outbox_own()->orders[vm->index].number;
}

static void order_put(const struct vm *vm, const struct order *order)
{
	volatile struct order *given = &outbox_own()->orders[vm->index];

	given->action = order->action;
	given->size = order->size;
	given->entry = order->entry;
	given->crc = order->crc;
	given->number++;
	message_send(vm->guest->cpu, MESSAGE_ORDER);
}

/* Gives an order, or fetches its answer if it has been given. Returns GANDALF_ERROR_BUSY as long as
 * there is none: then the caller's guest is to ask again. */
static int order_give(const struct vm *vm, const struct order *order)
{
	volatile struct order *given = &outbox_own()->orders[vm->index];
	volatile struct outbox *home = outbox_of(vm->guest->cpu);

	if (home->alive == 0)
		return GANDALF_ERROR_CPU;
	if (order_is_open(vm))
		return GANDALF_ERROR_BUSY;
	if (waits[vm->index] && order_is(given, order)) {
		waits[vm->index] = false;
		return home->answers[core.index][vm->index].result;
	}
	order_put(vm, order);
	waits[vm->index] = true;
	return GANDALF_ERROR_BUSY;
}

int order_post(const struct vm *vm, u32 action)
{
	EXPECTS_MASKED();
	if (order_is_open(vm))
		return GANDALF_ERROR_BUSY;
	order_put(vm, &(struct order){.action = action});
	waits[vm->index] = false;
	return 0;
}

int elsewhere_act(struct vm *vm, u32 action, u32 size, u32 entry, u32 crc)
{
	struct order order = {.action = action, .size = size, .entry = entry, .crc = crc};

	EXPECTS_MASKED();
	return action <= GANDALF_ACTION_LOAD ? order_give(vm, &order) : GANDALF_ERROR_ARGUMENT;
}

/* Whether this core is named as the one that writes the image. */
static bool may_write(const struct vm *vm)
{
	return outbox_of(vm->guest->cpu)->writer[vm->index] == core.index + 1;
}

/* Says that it writes before it looks whether it still may: whoever takes that away does so before
 * he looks whether somebody writes. So one of them at least sees the other. */
static int image_write(struct vm *vm, u32 offset, const u8 *bytes, u32 size)
{
	struct order order = {.action = ORDER_IMAGE};
	int result = GANDALF_ERROR_BUSY;

	if (!vm->kind->real_time || offset > vm->image.room || size > vm->image.room - offset)
		return GANDALF_ERROR_SPACE;
	if (!may_write(vm)) {
		result = order_give(vm, &order);
		return result == 0 ? GANDALF_ERROR_BUSY : result;
	}
	outbox_own()->writes = vm->index + 1;
	order_stores();
	if (may_write(vm)) {
		memory_copy_out(module_base + vm->image.offset + offset, bytes, size);
		result = (int)size;
	}
	order_stores();
	outbox_own()->writes = 0;
	return result;
}

int elsewhere_write(struct vm *vm, u32 object, u32 offset, const u8 *bytes, u32 size)
{
	EXPECTS_MASKED();
	if (outbox_of(vm->guest->cpu)->alive == 0)
		return GANDALF_ERROR_CPU;
	if (object == GANDALF_OBJECT_IMAGE)
		return image_write(vm, offset, bytes, size);
	if (object == GANDALF_OBJECT_CONSOLE)
		return (int)relay_type(vm, bytes, size);
	return GANDALF_ERROR_ARGUMENT;
}

/* --- The core that carries them out --- */

static bool image_is_written(u32 place)
{
	for (u32 index = 0; index < system_table.cpus; index++)
		if (outbox_of(index)->writes == place + 1 && outbox_of(index)->ended == 0)
			return true;
	return false;
}

static bool is_unchecked(const struct vm *vm)
{
	return (unchecked >> vm->index & 1) != 0;
}

/* While an image is compared with its checksum another core is named, or none. */
bool elsewhere_loads(const struct vm *vm)
{
	return !may_write(vm);
}

/* While an image is compared with its checksum the core that has written it stays named, since it
 * gets the answer. */
int elsewhere_takes_back(const struct vm *vm, u32 offset)
{
	if (is_unchecked(vm))
		return GANDALF_ERROR_BUSY;
	if (offset != 0 && !may_write(vm))
		return GANDALF_ERROR_IMAGE;
	outbox_own()->writer[vm->index] = core.index + 1;
	order_stores();
	return image_is_written(vm->index) ? GANDALF_ERROR_BUSY : 0;
}

static int image_begin(struct vm *vm, u32 from)
{
	if (!vm->kind->real_time || vm->image.room == 0)
		return GANDALF_ERROR_SPACE;
	if (vm_is_alive(vm))
		return GANDALF_ERROR_STATE;
	vm->image.memory_size = 0;
	outbox_own()->writer[vm->index] = from + 1;
	return 0;
}

/* The rest is orders_attend()'s, which comes before a Linux that never halts: until then the order
 * is not answered. */
static int image_end(struct vm *vm, u32 from, u32 size)
{
	if (outbox_own()->writer[vm->index] != from + 1)
		return GANDALF_ERROR_IMAGE;
	if (size > vm->image.room || size > vm->guest->memory_size - GANDALF_PAGE_SIZE)
		return GANDALF_ERROR_SPACE;
	unchecked |= 1u << vm->index;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	return GANDALF_ERROR_BUSY;
}

static int order_carry_out(struct vm *vm, u32 from)
{
	volatile struct order *order = &outbox_of(from)->orders[vm->index];

	if (is_unchecked(vm))
		return GANDALF_ERROR_BUSY;
	if (order->action == ORDER_IMAGE)
		return image_begin(vm, from);
	if (order->action == GANDALF_ACTION_LOAD)
		return image_end(vm, from, order->size);
	vcpu_notify(core.current);
	return vm_act(vm, order->action);
}

static bool is_pending(u32 from, u32 place)
{
	return outbox_of(from)->orders[place].number !=
	       outbox_own()->answers[from][place].number;
}

static void order_answer(u32 from, u32 place, int result)
{
	volatile struct order_answer *answer = &outbox_own()->answers[from][place];

	answer->result = result;
	answer->number = outbox_of(from)->orders[place].number;
}

static void orders_wait(u32 from)
{
	waiting |= 1u << from;
	if (!deadline_is_set(&again))
		deadline_set(&again, rdtsc() + time_tsc_khz / RATE);
}

/* Returns whether a core has given an order for a guest that is this core's. */
static bool order_waits(const struct vm *vm, u32 from)
{
	return vm->guest->cpu == core.index && !vm_is_part(vm) && is_pending(from, vm->index);
}

/* Carries out an order, which waits on if its guest is busy. */
static void order_try(struct vm *vm, u32 from)
{
	int result = order_carry_out(vm, from);

	if (result != GANDALF_ERROR_BUSY)
		order_answer(from, vm->index, result);
	else
		orders_wait(from);
}

/* Tries one order of a core, whose guests take turns: many at once would take long. */
static void orders_look(u32 from)
{
	bool tried = false;

	for (u32 i = 0; i < core.vcpu_count; i++) {
		u32 next = turn + 1 < core.vcpu_count ? turn + 1 : 0;

		if (order_waits(vcpus[next].vm, from)) {
			if (tried) {
				orders_wait(from);
				return;
			}
			order_try(vcpus[next].vm, from);
			tried = true;
		}
		turn = next;
	}
}

static u64 again_expire(UNUSED struct deadline *deadline)
{
	sender = turn_behind(sender, waiting);
	waiting &= ~(1u << sender);
	orders_look(sender);
	return waiting != 0 ? rdtsc() + time_tsc_khz / RATE : TIME_NEVER;
}

static void order_serve(u32 from, UNUSED u32 number)
{
	orders_look(from);
}
MESSAGES_SERVED(MESSAGE_ORDER, 1, order_serve);

static u32 image_crc(const struct vm *vm, u32 size)
{
	u8 bytes[CHECK_STEP];
	u32 crc = 0, step;

	for (u32 done = 0; done < size; done += step) {
		step = minimum(size - done, sizeof(bytes));
		memory_copy_in(bytes, module_base + vm->image.offset + done, step);
		crc = crc32_update(crc, bytes, step);
		schedule_admit();
	}
	return crc;
}

/* The core that has written the image waits for the answer, so its order stays as it is. */
static int image_check(struct vm *vm, const volatile struct order *order)
{
	while (image_is_written(vm->index))
		schedule_admit();
	if (order->entry >= order->size)
		return GANDALF_ERROR_ARGUMENT;
	if (image_crc(vm, order->size) != order->crc)
		return GANDALF_ERROR_IMAGE;
	vm->image.load_address = 0;
	vm->image.file_size = vm->image.memory_size = order->size;
	vm->entry = order->entry;
	return 0;
}

void orders_attend(void)
{
	for (u32 place = 0; unchecked != 0 && place < core.vm_count; place++) {
		u32 from = outbox_own()->writer[place] - 1;

		if ((unchecked >> place & 1) == 0)
			continue;
		outbox_own()->writer[place] = 0;
		order_stores();
		order_answer(from, place,
			     image_check(&vms[place], &outbox_of(from)->orders[place]));
		unchecked &= ~(1u << place);
	}
}

void orders_init(void)
{
	deadline_init(&again, again_expire, 0);
}
