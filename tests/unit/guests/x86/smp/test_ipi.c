/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts between the vCPUs of a Linux: within a core at once, and to another core by a bit that
 * is on its way until that core has seen it.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"
#include "fake/serve_message.h"
#include "fake/message_entry.h"

#include "arch/ia32/entry.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/message_quick.h"
#include "core/module.h"
#include "core/trace.h"
#include "guests/x86/board.h"
#include "guests/x86/inject_frame.h"
#include "guests/x86/smp/smp.h"

#define HOME 2u
#define FAR 0u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define VCPUS 4u
#define VECTOR 0xfdu
#define LIMIT 8u
#define WINDOW (1000000u / 20)

u32 time_tsc_khz = 1000000, pool_distance;
struct gandalf_table system_table = { .cpus = VCPUS };
struct vm *part_vms[GANDALF_CPUS_MAXIMUM];

/* vCPUs 0 and 1 are on one core, 2 and 3 on another. */
static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_LINUX_SMP, .cpu = HOME, .vcpu_count = VCPUS,
	.vcpu_cpus = { HOME, HOME, FAR, FAR },
};
static struct frame frame;
static struct vm vms_made[VCPUS];
static struct smp smps[VCPUS];
static struct x86 x86s[VCPUS];
static struct vcpu vcpus_made[VCPUS];
static u32 sent[MESSAGES], requested[VCPUS];
/* Of the entry by an interrupt of a sibling: the vector that was delivered. */
static u32 injected, flag, gate_missing;
static const struct guest_kind kinds[2] = { { .real_time = false }, { .real_time = true } };

struct heard heard[GANDALF_CPUS_MAXIMUM];
struct message_window message_window;
static u32 windows_full;

static volatile u32 *raised_for(u32 from, u32 to)
{
	return &outbox_of(from)->raised[to][MESSAGE_IPI / 32];
}

static volatile u32 *seen_by(u32 to, u32 from)
{
	return &outbox_of(to)->seen[from][MESSAGE_IPI / 32];
}

/* Each core that is told sees all messages. */
void message_tell_ipis(u32 cores)
{
	u32 to = core.index == HOME ? FAR : HOME;
	u32 bits = *raised_for(core.index, to) ^ *seen_by(to, core.index);

	assert_int_equal(cores, bits != 0 ? 1u << to : 0);
	*seen_by(to, core.index) ^= bits;
	for (u32 i = 0; i < VCPUS; i++)
		sent[MESSAGE_IPI + i] += (bits & MESSAGE_IPI_BIT(i)) != 0;
}

void message_window_is_full(void)
{
	windows_full++;
}

void messages_are_left(u32 most)
{
	(void)most;
	fail();
}

/* Own stand-ins: inject() looks at whom the interrupt is for, inject_triple_fault() at the vector:
 * the guest has no IDT, of which a process's interrupt reads the gate. So entry_copy() and
 * shadow_make_writable() are not called. */
u32 entry_copy(void *to, const void *from, u32 size)
{
	(void)to;
	(void)from;
	fail();
	return size;
}

bool shadow_make_writable(struct x86 *x86, u32 linear)
{
	(void)x86;
	(void)linear;
	fail();
	return false;
}

void inject_triple_fault(struct x86 *x86, unsigned vector, const char *why)
{
	(void)why;
	assert_ptr_equal(x86->vcpu, core.current);
	gate_missing = vector;
}

bool inject(struct x86 *x86, unsigned vector, u32 error)
{
	assert_ptr_equal(x86->vcpu, core.current);
	assert_int_equal(error, INJECT_NO_ERROR);
	injected = vector;
	return true;
}

/* What is requested of a vCPU is what the test says, and there is no other way to request it. */
static void requests_set(u32 number, u32 vectors)
{
	requested[number] = vectors;
	smps[number].apic.pending = vectors != 0 ? (s32)VECTOR : -1;
}

void local_apic_request_ipis(struct local_apic *apic, u32 vectors)
{
	for (u32 i = 0; i < VCPUS; i++)
		if (apic == &smps[i].apic)
			requests_set(i, requested[i] | vectors);
}

/* The rest of the file under test is not called here. */
u32 local_apic_acknowledge(struct local_apic *apic)
{
	for (u32 i = 0; i < VCPUS; i++)
		if (apic == &smps[i].apic && requested[i] != 0) {
			u32 highest = 31 - (u32)__builtin_clz(requested[i]);

			requests_set(i, requested[i] & ~(1u << highest));
			return GANDALF_IPI_FIRST + highest;
		}
	fail();
	return 0;
}

bool local_apic_takes_external(const struct local_apic *apic)
{
	(void)apic;
	return false;
}

u64 local_apic_deadline(const struct local_apic *apic)
{
	(void)apic;
	fail();
	return 0;
}

bool local_apic_expire(struct local_apic *apic, u64 now)
{
	(void)apic;
	(void)now;
	fail();
	return false;
}

void local_apic_reset(struct local_apic *apic, u32 *page, u32 id, bool first)
{
	(void)page;
	assert_ptr_equal(apic, &smps[id].apic);
	assert_int_equal(first, id == 0);
	requests_set(id, 0);
}

bool local_apic_write(struct local_apic *apic, u32 offset, u32 value, u64 now)
{
	(void)apic;
	(void)offset;
	(void)value;
	(void)now;
	fail();
	return false;
}

/* The turn of a vCPU, on its core. */
static void turn_of(u32 number)
{
	core.index = guest.vcpu_cpus[number];
	core.current = &vcpus_made[number];
	for (u32 i = 0; i < VCPUS; i++)
		part_vms[i] = guest.vcpu_cpus[i] == core.index ? &vms_made[i] : NULL;
	for (u32 i = 0; i < VCPUS; i++)
		heard[i] = (struct heard){ .raised = outbox_of(i)->raised[core.index],
					   .seen = outbox_own()->seen[i] };
	ipis_prepare(&smps[number], &guest);
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(sent, 0, sizeof(sent));
	memset(requested, 0, sizeof(requested));
	for (u32 i = 0; i < VCPUS; i++) {
		vms_made[i] = (struct vm){ .guest = &guest, .vcpus = &vcpus_made[i],
					   .state = GANDALF_STATE_RUNNING, .kind = &kinds[0] };
		vcpus_made[i] = (struct vcpu){ .vm = &vms_made[i], .x86 = &x86s[i],
					       .trace = trace_ring_of(0),
					       .state = VCPU_RUNNING, .frame = &frame };
		smps[i] = (struct smp){ .id = i, .x86 = &x86s[i],
					.cpus = 1 << HOME | 1 << FAR,
					.apic.pending = -1 };
		x86s[i] = (struct x86){ .vm = &vms_made[i], .vcpu = &vcpus_made[i],
					.smp = &smps[i], .siblings = true, .flag = &flag };
	}
	processor.tsc = 0;
	frame = (struct frame){ .cs = 0x61 };
	message_window = (struct message_window){ .length = WINDOW };
	asked.entries = injected = windows_full = gate_missing = 0;
	flag = EFLAGS_IF;
	for (u32 i = 0; i < VCPUS; i++) {
		turn_of(i);
		smp_apic_reset(&x86s[i]);
		ipis_reset(&smps[i]);
		smps[i].apic.lets_last_in = true;
	}
	turn_of(0);
	return 0;
}

/* The hypercall of the vCPU whose turn it is. */
static u32 interrupt(u32 ids, u32 vector)
{
	const struct hypercall *const *at;

	frame.ebx = ids;
	frame.ecx = vector;
	for (at = UNITS_FIRST(hypercalls); at < UNITS_END(hypercalls); at++)
		if ((*at)->number == GANDALF_HYPERCALL_IPI)
			return (*at)->function(core.current);
	fail();
	return 0;
}

/* Serves a message to the core of the vCPU whose turn it is. */
static void serve(u32 from, u32 message)
{
	message_window_renew();
	serve_message(from, message);
}

static void one_of_the_same_core_needs_no_message(void **state)
{
	(void)state;
	vcpus_made[1].state = VCPU_HALTED;
	assert_int_equal(interrupt(1 << 1, VECTOR), 0);
	assert_int_equal(requested[1], 1u << (VECTOR - GANDALF_IPI_FIRST));
	assert_true(vcpu_is_notified(&vcpus_made[1]));
	/* The scheduler looks who comes first. */
	assert_true(vcpu_is_notified(&vcpus_made[0]));
	assert_int_equal(sent[MESSAGE_IPI + 1], 0);
}

static void one_of_another_core_gets_one(void **state)
{
	(void)state;
	assert_int_equal(interrupt(1 << 2, VECTOR), 0);
	assert_int_equal(sent[MESSAGE_IPI + 2], 1);
	turn_of(3);
	serve(HOME, MESSAGE_IPI + 2);
	assert_int_equal(requested[2], 1u << (VECTOR - GANDALF_IPI_FIRST));
	assert_int_equal(requested[3], 0);
	/* It has been seen: what comes without one is nothing. */
	requests_set(2, 0);
	serve(HOME, MESSAGE_IPI + 2);
	assert_int_equal(requested[2], 0);
}

static void all_at_once(void **state)
{
	(void)state;
	assert_int_equal(interrupt(0xf, 255), 0);
	assert_int_equal(requested[0], 1u << 31);
	assert_int_equal(requested[1], 1u << 31);
	assert_int_equal(sent[MESSAGE_IPI + 2], 1);
	assert_int_equal(sent[MESSAGE_IPI + 3], 1);
}

/* One on its way stands for the next; another vector has a bit of its own. */
static void one_on_its_way_stands_for_the_next(void **state)
{
	(void)state;
	assert_int_equal(interrupt(1 << 2, VECTOR), 0);
	assert_int_equal(interrupt(1 << 2, VECTOR), 0);
	assert_int_equal(sent[MESSAGE_IPI + 2], 1);
	assert_int_equal(interrupt(1 << 2, VECTOR + 1), 0);
	assert_int_equal(sent[MESSAGE_IPI + 2], 2);
	turn_of(2);
	serve(HOME, MESSAGE_IPI + 2);
	assert_int_equal(requested[2], 3u << (VECTOR - GANDALF_IPI_FIRST));
	requests_set(2, 0);
	turn_of(1); /* both vCPUs of a core have the same bits there */
	assert_int_equal(interrupt(1 << 2, VECTOR), 0);
	assert_int_equal(sent[MESSAGE_IPI + 2], 3);
	turn_of(2);
	serve(HOME, MESSAGE_IPI + 2);
	assert_int_equal(requested[2], 1u << (VECTOR - GANDALF_IPI_FIRST));
}

static void only_who_runs_or_is_paused_takes_one(void **state)
{
	(void)state;
	vms_made[1].state = GANDALF_STATE_STARTING;
	assert_int_equal(interrupt(1 << 1, VECTOR), 0);
	vms_made[1].state = GANDALF_STATE_OFF;
	assert_int_equal(interrupt(1 << 1, VECTOR), 0);
	assert_int_equal(requested[1], 0);
	vms_made[1].state = GANDALF_STATE_PAUSED;
	assert_int_equal(interrupt(1 << 1, VECTOR), 0);
	assert_int_equal(requested[1], 1u << (VECTOR - GANDALF_IPI_FIRST));
}

static void others_than_those_vectors_are_refused(void **state)
{
	(void)state;
	assert_int_equal(interrupt(1 << 1, GANDALF_IPI_FIRST - 1), (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(interrupt(1 << 1, 256), (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(interrupt(1 << 1, UINT32_MAX), (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(interrupt(~0xfu, VECTOR), 0); /* vCPUs that it has not */
	assert_int_equal(requested[0] | requested[1], 0);
}

/* vCPU 2, whose turn it is then, has taken so many vectors of vCPU 0 at once, from the first on. */
static void sent_to_the_second_core(u32 first, u32 count)
{
	turn_of(0);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(interrupt(1 << 2, GANDALF_IPI_FIRST + first + i), 0);
	turn_of(2);
	serve(HOME, MESSAGE_IPI + 2);
}

static void acknowledge_all(u32 number)
{
	while (requested[number] != 0)
		smp_acknowledge(&x86s[number]);
}

static void who_has_had_many_takes_no_more_before_it_went_on(void **state)
{
	(void)state;
	sent_to_the_second_core(0, LIMIT - 1);
	assert_int_equal(requested[2], (1u << (LIMIT - 1)) - 1);
	acknowledge_all(2);
	assert_false(deadline_is_set(&smps[2].rest));
	processor.tsc = WINDOW - 1;
	sent_to_the_second_core(LIMIT - 1, 1);
	assert_int_equal(requested[2], 1u << (LIMIT - 1));
	/* From here on it takes none, however late it gets what it has taken. */
	processor.tsc = 10 * WINDOW;
	sent_to_the_second_core(9, 1);
	assert_int_equal(requested[2], 1u << (LIMIT - 1));
	assert_false(deadline_is_set(&smps[2].rest));
	/* The other one there does. */
	turn_of(0);
	assert_int_equal(interrupt(1 << 3, VECTOR), 0);
	turn_of(3);
	serve(HOME, MESSAGE_IPI + 3);
	assert_int_equal(requested[3], 1u << (VECTOR - GANDALF_IPI_FIRST));
	acknowledge_all(2);
	assert_int_equal(smps[2].rest.time, 11 * WINDOW);
	/* What is asked for meanwhile moves the end no further away. */
	processor.tsc += 5;
	smp_look(&x86s[2]);
	assert_int_equal(smps[2].rest.time, 11 * WINDOW);
}

/* Whoever has sent it, and all at once: so nobody can keep back what others send. */
static void behind_the_rest_it_takes_all_that_came(void **state)
{
	(void)state;
	sent_to_the_second_core(0, LIMIT);
	acknowledge_all(2);
	for (u32 i = 0; i < 5; i++)
		sent_to_the_second_core(10 + i, 1);
	assert_int_equal(requested[2], 0);
	/* A third core of the guest's, which has sent one as well. */
	smps[2].others |= 1u << 3;
	((volatile struct smp_page *)part_kind_of(3, 2))->ipi_raised ^= 1u << 20;
	serve(3, MESSAGE_IPI + 2);
	assert_int_equal(requested[2], 0);
	processor.tsc = WINDOW;
	smps[2].rest.time = smps[2].rest.expire(&smps[2].rest);
	assert_int_equal(requested[2], 0x1f << 10 | 1u << 20);
	assert_true(x86s[2].interrupt_waits);
	assert_false(deadline_is_set(&smps[2].rest));
	assert_false(smps[2].rests);
	/* They count: with two more it rests again, and a quiet time later it has not. */
	sent_to_the_second_core(0, 2);
	assert_true(smps[2].rests);
	acknowledge_all(2);
	processor.tsc = 2 * WINDOW;
	smps[2].rest.time = smps[2].rest.expire(&smps[2].rest);
	assert_false(smps[2].rests);
	assert_false(deadline_is_set(&smps[2].rest));
	sent_to_the_second_core(0, LIMIT - 1);
	assert_int_equal(requested[2], (1u << (LIMIT - 1)) - 1);
	processor.tsc = 3 * WINDOW;
	sent_to_the_second_core(LIMIT - 1, 1);
	assert_false(smps[2].rests);
}

/* The guest may have disabled its APIC, so that nothing is delivered. */
static void a_rest_that_ends_with_many_begins_anew(void **state)
{
	(void)state;
	sent_to_the_second_core(0, LIMIT);
	acknowledge_all(2);
	sent_to_the_second_core(0, 32);
	processor.tsc = WINDOW;
	smps[2].rest.time = smps[2].rest.expire(&smps[2].rest);
	assert_int_equal(requested[2], ~0u);
	assert_true(smps[2].rests);
	assert_false(deadline_is_set(&smps[2].rest));
	requests_set(2, 0);
	smp_look(&x86s[2]);
	assert_int_equal(smps[2].rest.time, 2 * WINDOW);
}

static void who_ends_or_starts_has_been_sent_nothing(void **state)
{
	(void)state;
	sent_to_the_second_core(0, LIMIT);
	sent_to_the_second_core(20, 2);
	acknowledge_all(2);
	assert_true(deadline_is_set(&smps[2].rest));
	smp_apic_leave(&x86s[2]);
	ipis_leave(&smps[2]);
	assert_false(deadline_is_set(&smps[2].rest));
	/* It takes none, and none stays on its way. */
	vms_made[2].state = GANDALF_STATE_OFF;
	sent_to_the_second_core(0, 32);
	assert_int_equal(requested[2], 0);
	turn_of(0);
	assert_int_equal(interrupt(1 << 2, VECTOR), 0);
	turn_of(2);
	vms_made[2].state = GANDALF_STATE_RUNNING;
	smp_apic_reset(&x86s[2]);
	ipis_reset(&smps[2]);
	serve(HOME, MESSAGE_IPI + 2);
	assert_int_equal(requested[2], 0);
	sent_to_the_second_core(0, LIMIT);
	assert_int_equal(requested[2], (1u << LIMIT) - 1);
}

/* vCPU 2 runs, and is interrupted by vCPU 0 with some vectors. */
static void interrupted_by(u32 vectors)
{
	turn_of(2);
	((volatile struct smp_page *)part_kind_of(HOME, 2))->ipi_raised ^= vectors;
	*raised_for(HOME, FAR) ^= MESSAGE_IPI_BIT(2);
	message_enters(VECTOR_APIC_IPI, &frame);
}

static void who_runs_gets_one_as_it_comes(void **state)
{
	(void)state;
	interrupted_by(1u << 27);
	assert_int_equal(injected, GANDALF_IPI_FIRST + 27);
	assert_int_equal(requested[2] | asked.entries, 0);
	assert_int_equal(vcpus_made[2].counters[COUNTER_quick_ipis], 1);
	assert_int_equal(vcpus_made[2].counters[COUNTER_entries], 1);
	assert_int_equal(vcpus_made[2].counters[COUNTER_interrupts], 1);
	/* It has been seen. */
	injected = 0;
	turn_of(2);
	serve(HOME, MESSAGE_IPI + 2);
	assert_int_equal(requested[2] | injected, 0);
}

/* A process has its interrupts enabled, whatever the kernel's flag was. */
static void a_process_is_interrupted_at_once(void **state)
{
	(void)state;
	frame.cs = 0x73;
	flag = 0;
	interrupted_by(1u << 27);
	assert_int_equal(gate_missing, GANDALF_IPI_FIRST + 27);
	assert_int_equal(injected | requested[2] | asked.entries, 0);
	assert_int_equal(vcpus_made[2].counters[COUNTER_quick_ipis], 1);
	assert_int_equal(vcpus_made[2].counters[COUNTER_deliveries], 0);
}

/* What is taken and cannot be delivered waits in the local APIC. */
static void taken_and_requested(u32 vectors)
{
	interrupted_by(vectors);
	assert_int_equal(injected | asked.entries, 0);
	assert_int_equal(requested[2], vectors);
	assert_true(vcpu_is_notified(&vcpus_made[2]));
	assert_int_equal(vcpus_made[2].counters[COUNTER_quick_ipis], 0);
}

static void with_interrupts_disabled_it_waits(void **state)
{
	(void)state;
	flag = 0;
	taken_and_requested(1u << 27);
}

static void behind_an_apic_that_lets_none_in_it_waits(void **state)
{
	(void)state;
	smps[2].apic.lets_last_in = false;
	taken_and_requested(1u << 27);
}

static void several_at_once_wait(void **state)
{
	(void)state;
	taken_and_requested(3u << 27);
}

/* The end of a rest sees vectors whose message is still on its way. */
static void what_has_been_seen_already_is_nothing(void **state)
{
	(void)state;
	interrupted_by(0);
	assert_int_equal(injected | requested[2] | asked.entries, 0);
	assert_false(smps[2].rests);
}

/* Nothing was taken, so all is left to the queue of messages. */
static void left_to_the_queue(void)
{
	asked.entries = 0;
	interrupted_by(1u << 27);
	assert_int_equal(asked.entries, 1);
	assert_int_equal(injected | requested[2], 0);
	assert_int_equal(*raised_for(HOME, FAR) ^ *seen_by(FAR, HOME), MESSAGE_IPI_BIT(2));
	start(NULL);
}

static void what_may_not_be_taken_is_left_to_the_queue(void **state)
{
	static struct frame of_the_vmm;

	(void)state;
	vcpus_made[2].shares = true;
	left_to_the_queue();
	vcpu_notify(&vcpus_made[2]);
	left_to_the_queue();
	x86s[2].armed = true;
	left_to_the_queue();
	smps[2].rests = true;
	left_to_the_queue();
	x86s[2].siblings = false;
	left_to_the_queue();
	vcpus_made[2].priority = 1; /* an RTOS, which has no struct x86 */
	vcpus_made[2].x86 = NULL;
	left_to_the_queue();
	vms_made[2].state = GANDALF_STATE_STOPPED;
	left_to_the_queue();
	vcpus_made[2].frame = &of_the_vmm; /* the VMM itself is interrupted */
	left_to_the_queue();
}

static void a_window_that_is_full_leaves_it_to_the_queue(void **state)
{
	(void)state;
	message_window.ends = WINDOW;
	message_window.taken = MESSAGES_AT_ONCE;
	left_to_the_queue();
	assert_int_equal(vcpus_made[2].counters[COUNTER_entries], 0);
	/* Another core, from which nothing has come, is nobody's either. */
	turn_of(2);
	message_enters(VECTOR_APIC_IPI, &frame);
	assert_int_equal(asked.entries, 1);
}

/* The eighth in a window is not delivered at once, and begins a rest. */
static void what_is_delivered_at_once_counts(void **state)
{
	(void)state;
	for (u32 i = 0; i < LIMIT - 1; i++) {
		injected = 0;
		interrupted_by(1u << i);
		assert_int_equal(injected, GANDALF_IPI_FIRST + i);
	}
	injected = 0;
	interrupted_by(1u << 20);
	assert_int_equal(injected, 0);
	assert_int_equal(requested[2], 1u << 20);
	assert_true(smps[2].rests);
	acknowledge_all(2);
	assert_int_equal(smps[2].rest.time, WINDOW);
	vcpu_notice(&vcpus_made[2]);
	x86s[2].unusual = 0;
	interrupted_by(1u << 21);
	assert_int_equal(asked.entries, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(one_of_the_same_core_needs_no_message),
		TEST(one_of_another_core_gets_one),
		TEST(all_at_once),
		TEST(one_on_its_way_stands_for_the_next),
		TEST(only_who_runs_or_is_paused_takes_one),
		TEST(others_than_those_vectors_are_refused),
		TEST(who_has_had_many_takes_no_more_before_it_went_on),
		TEST(behind_the_rest_it_takes_all_that_came),
		TEST(a_rest_that_ends_with_many_begins_anew),
		TEST(who_ends_or_starts_has_been_sent_nothing),
		TEST(who_runs_gets_one_as_it_comes),
		TEST(a_process_is_interrupted_at_once),
		TEST(with_interrupts_disabled_it_waits),
		TEST(behind_an_apic_that_lets_none_in_it_waits),
		TEST(several_at_once_wait),
		TEST(what_has_been_seen_already_is_nothing),
		TEST(what_may_not_be_taken_is_left_to_the_queue),
		TEST(a_window_that_is_full_leaves_it_to_the_queue),
		TEST(what_is_delivered_at_once_counts),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES) || !map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	return RUN_TESTS(tests);
}
