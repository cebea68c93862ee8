/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs of flushes: each vCPU does to its shadow what its siblings have flushed, once and in
 * their order, or forgets what it shadows of processes if it is too far behind.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "guests/x86/smp/smp.h"
#include "siblings.h"

#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define VCPUS 3u


static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_LINUX_SMP, .cpu = 1, .vcpu_count = VCPUS, .vcpu_cpus = { 1, 4, 2 },
};
static struct vm vm = { .guest = &guest };
static struct vcpu vcpu = { .vm = &vm };
static struct smp smps[VCPUS];
static struct x86 x86s[VCPUS];
static struct space spaces[VCPUS];
static u32 flushed, forgotten, last[3], sum;
/* How often a sibling flushes while this vCPU follows a flush, and while it drops its space. */
static u32 meanwhile;

static void sibling_flushes(void)
{
	struct x86 *sibling = &x86s[2];
	u32 here = core.index;

	core.index = guest.vcpu_cpus[2];
	for (u32 i = 0; i < meanwhile; i++)
		flush_log_add(sibling, 0, 0x1000, 0x2000);
	core.index = here;
}

/* Own stand-ins: shadow_flush() sums up what is flushed, while siblings flush, and so they do in
 * space_drop(). */
void shadow_flush(struct x86 *x86, u32 directory, u32 start, u32 end)
{
	assert_ptr_equal(x86->vm, &vm);
	flushed++;
	last[0] = directory;
	last[1] = start;
	last[2] = end;
	sum = sum * 31 + start;
	assert_in_range(flushed, 0, 1000);
	sibling_flushes();
}

void space_drop(struct space *space, struct x86 *points)
{
	assert_non_null(space);
	assert_null(points);
	forgotten++;
	assert_in_range(forgotten, 0, 1000);
	sibling_flushes();
}

void processor_sleep(void)
{
	fail();
}

static struct x86 *turn_of(u32 id)
{
	core.index = guest.vcpu_cpus[id];
	return &x86s[id];
}

static void follow(u32 id)
{
	flushed = forgotten = sum = 0;
	flush_log_follow(turn_of(id));
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(smps, 0, sizeof(smps));
	meanwhile = 0;
	for (u32 id = 0; id < VCPUS; id++) {
		x86s[id] = (struct x86){ .vm = &vm, .vcpu = &vcpu, .smp = &smps[id] };
		x86s[id].siblings = true;
		spaces[id] = (struct space){ .guest = 0 };
		x86s[id].shadow.current = &spaces[id];
		smps[id].id = id;
		for (u32 number = 0; number < VCPUS; number++)
			smps[id].cpus |= 1u << vm.guest->vcpu_cpus[number];
	}
	return 0;
}

static void siblings_do_what_one_has_flushed(void **state)
{
	(void)state;
	flush_log_add(turn_of(1), 0x5000, 0x10000, 0x12000);
	for (u32 id = 0; id < VCPUS; id += 2) {
		follow(id);
		assert_int_equal(flushed, 1);
		assert_int_equal(last[0], 0x5000);
		assert_int_equal(last[1], 0x10000);
		assert_int_equal(last[2], 0x12000);
		follow(id);
		assert_int_equal(flushed, 0);
	}
	follow(1); /* its own are done */
	assert_int_equal(flushed | forgotten, 0);
}

static void they_are_done_in_their_order(void **state)
{
	(void)state;
	flush_log_add(turn_of(0), 0, 1, 0);
	flush_log_add(turn_of(0), 0, 2, 0);
	flush_log_add(turn_of(0), 0, 3, 0);
	follow(1);
	assert_int_equal(flushed, 3);
	assert_int_equal(sum, (1 * 31 + 2) * 31 + 3);
}

/* The writer may be at work on the entry behind the last one, so that is one less than the log
 * holds. */
static void who_is_too_far_behind_forgets_all(void **state)
{
	(void)state;
	for (u32 i = 0; i < FLUSH_LOG - 1; i++)
		flush_log_add(turn_of(0), 0, i, 0);
	follow(1);
	assert_int_equal(flushed, FLUSH_LOG - 1);
	assert_int_equal(forgotten, 0);
	for (u32 i = 0; i < FLUSH_LOG; i++)
		flush_log_add(turn_of(0), 0, i, 0);
	follow(1);
	assert_int_equal(flushed, 0);
	assert_int_equal(forgotten, 1);
	follow(1);
	assert_int_equal(flushed | forgotten, 0);
	flush_log_add(turn_of(0), 0, 7, 0);
	follow(1);
	assert_int_equal(flushed, 1);
}

/* One that flushes as fast as this vCPU follows, or faster, does not keep it at that: what was
 * flushed before is done, and the rest is left for the next time. */
static void who_flushes_without_end_keeps_nobody(void **state)
{
	(void)state;
	meanwhile = 1;
	for (u32 i = 0; i < 3; i++)
		flush_log_add(turn_of(2), 0, i, 0);
	follow(1);
	assert_int_equal(flushed, 3);
	assert_int_equal(forgotten, 0);
	follow(1);
	assert_int_equal(flushed, 3);
	meanwhile = FLUSH_LOG + 1;
	for (u32 round = 0; round < 3; round++) {
		follow(1);
		assert_in_range(flushed, 0, 1);
		assert_int_equal(forgotten, 1);
	}
	meanwhile = 0;
	follow(1);
	assert_int_equal(forgotten, 1);
	follow(1);
	assert_int_equal(flushed | forgotten, 0);
}

/* Of several whose logs it is behind of. */
static void all_is_forgotten_once(void **state)
{
	(void)state;
	for (u32 i = 0; i < FLUSH_LOG; i++) {
		flush_log_add(turn_of(0), 0, i, 0);
		flush_log_add(turn_of(2), 0, i, 0);
	}
	follow(1);
	assert_int_equal(forgotten, 1);
	assert_int_equal(flushed, 0);
	follow(1);
	assert_int_equal(flushed | forgotten, 0);
}

/* Spaces of an older epoch are emptied when they are loaded, each once, and only if they, or one of
 * their class, were flushed since. */
static void what_is_not_loaded_is_looked_at_later(void **state)
{
	static struct space flushed_one, kept;

	(void)state;
	flushed_one = (struct space){ .guest = 0x5000 };
	kept = (struct space){ .guest = 0x6000 };
	flush_log_add(turn_of(2), 0x6000, 0x1000, 0x2000);
	follow(1);
	flush_log_add(turn_of(0), 0x5000 + FLUSH_CLASSES * PAGE_SIZE, 0x1000, 0x2000);
	x86s[1].shadow.current = NULL;
	flush_log_skip(turn_of(1));
	follow(1);
	assert_int_equal(flushed | forgotten, 0);
	space_is_found(&x86s[1], &kept);
	assert_int_equal(forgotten, 0);
	space_is_found(&x86s[1], &flushed_one);
	assert_int_equal(forgotten, 1);
	space_is_found(&x86s[1], &flushed_one);
	assert_int_equal(forgotten, 1);
	assert_int_equal(kept.epoch, smps[1].epoch);
	flush_log_add(turn_of(2), 0x6000, 0x1000, 0x2000);
	flush_log_skip(turn_of(1));
	space_is_found(&x86s[1], &kept);
	assert_int_equal(forgotten, 2);
}

/* One that was not loaded for more epochs than are known is emptied, and one that has just been
 * made is not. */
static void of_older_epochs_nothing_is_known(void **state)
{
	static struct space old;

	(void)state;
	old = (struct space){ .guest = 0x5000 };
	forgotten = 0;
	for (u32 i = 0; i < EPOCHS; i++)
		flush_log_skip(turn_of(1));
	space_is_found(&x86s[1], &old);
	assert_int_equal(forgotten, 0);
	old.epoch = 0;
	flush_log_skip(turn_of(1));
	space_is_found(&x86s[1], &old);
	assert_int_equal(forgotten, 1);
	old.epoch = 0;
	space_is_made(&x86s[1], &old);
	space_is_found(&x86s[1], &old);
	assert_int_equal(forgotten, 1);
}

/* What is flushed while an epoch ends counts for the next one. */
static void a_flush_is_seen_behind_a_skip(void **state)
{
	(void)state;
	spaces[1].guest = 0x5000;
	flush_log_skip(turn_of(1));
	flush_log_add(turn_of(0), 0x5000, 0x1000, 0x2000);
	follow(1);
	assert_int_equal(flushed, 1);
	forgotten = 0;
	space_is_found(&x86s[1], &spaces[1]);
	assert_int_equal(forgotten, 1);
}

static void flushes_of_the_kernel_are_kept_apart(void **state)
{
	(void)state;
	for (u32 i = 0; i < KERNEL_FLUSHES + 2; i++)
		flush_of_kernel_page(turn_of(1), 0xf0000123 + i * PAGE_SIZE);
	flush_of_all(turn_of(1));
	assert_int_equal(smps[1].kernel.count, KERNEL_FLUSHES + 3);
	assert_int_equal(smps[1].kernel.pages[2], KERNEL_FLUSH_ALL);
	assert_int_equal(smps[1].kernel.pages[1], 0xf0000000 + (KERNEL_FLUSHES + 1) * PAGE_SIZE);
	assert_int_equal(smps[1].kernel.pages[3], 0xf0000000 + 3 * PAGE_SIZE);
	follow(2);
	assert_int_equal(flushed | forgotten, 0);
}

static void the_count_may_wrap(void **state)
{
	(void)state;
	flush_log_of(guest.vcpu_cpus[0])->flush_count = UINT32_MAX - 1;
	flush_log_begin(turn_of(1));
	for (u32 i = 0; i < 5; i++)
		flush_log_add(turn_of(0), 0, i, 0);
	follow(1);
	assert_int_equal(flushed, 5);
	assert_int_equal(last[1], 4);
}

static void one_that_begins_has_nothing_to_follow(void **state)
{
	(void)state;
	flush_log_add(turn_of(0), 0, 1, 0);
	flush_log_add(turn_of(2), 0, 2, 0);
	flush_log_begin(turn_of(1));
	follow(1);
	assert_int_equal(flushed | forgotten, 0);
	flush_log_add(turn_of(2), 0, 9, 0);
	follow(1);
	assert_int_equal(flushed, 1);
	assert_int_equal(last[1], 9);
}

static void cores_of_other_guests_are_not_followed(void **state)
{
	volatile struct smp_page *other;

	(void)state;
	for (u32 core_index = 0; core_index < GANDALF_CPUS_MAXIMUM; core_index++)
		if ((smps[0].cpus >> core_index & 1) == 0) {
			other = flush_log_of(core_index);
			other->flush_count = 9;
		}
	for (u32 id = 0; id < VCPUS; id++) {
		follow(id);
		assert_int_equal(flushed | forgotten, 0);
	}
}

/* They have a log in common. Who has followed it does not do its own flushes a second time. */
static void siblings_of_a_core_follow_each_other(void **state)
{
	(void)state;
	for (u32 id = 0; id < VCPUS; id++) {
		smps[id].cpus = 1u << 1;
		core.index = 1;
	}
	for (u32 id = 0; id < VCPUS; id++) {
		flush_log_follow(&x86s[id]);
		flush_log_add(&x86s[id], 0, id + 1, 0);
	}
	for (u32 id = 0; id < VCPUS; id++) {
		flushed = 0;
		flush_log_follow(&x86s[id]);
		assert_int_equal(flushed, VCPUS - 1 - id);
		flush_log_follow(&x86s[id]);
		assert_int_equal(flushed, VCPUS - 1 - id);
	}
}

/* The shadow that a vCPU has left on a core does what it and others have flushed since. */
static void who_comes_back_follows_its_own_flushes(void **state)
{
	struct smp kept;

	(void)state;
	kept = smps[1]; /* at core 4, where it is at home */
	core.index = 2;
	flush_log_add(&x86s[1], 0, 11, 0);
	flush_log_add(&x86s[1], 0, 12, 0);
	core.index = 4;
	smps[1] = kept;
	flushed = 0;
	flush_log_follow(&x86s[1]);
	assert_int_equal(flushed, 2);
	assert_int_equal(last[1], 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(siblings_do_what_one_has_flushed),
		TEST(they_are_done_in_their_order),
		TEST(who_is_too_far_behind_forgets_all),
		TEST(who_flushes_without_end_keeps_nobody),
		TEST(all_is_forgotten_once),
		TEST(what_is_not_loaded_is_looked_at_later),
		TEST(of_older_epochs_nothing_is_known),
		TEST(a_flush_is_seen_behind_a_skip),
		TEST(flushes_of_the_kernel_are_kept_apart),
		TEST(the_count_may_wrap),
		TEST(one_that_begins_has_nothing_to_follow),
		TEST(cores_of_other_guests_are_not_followed),
		TEST(siblings_of_a_core_follow_each_other),
		TEST(who_comes_back_follows_its_own_flushes),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
