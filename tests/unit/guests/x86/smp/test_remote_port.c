/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports of a vCPU that has no mainboard: it asks the first vCPU's core, sleeps, and goes on
 * behind the instruction when the answer is there.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"
#include "fake/serve_message.h"

#include "core/vm.h"
#include "guests/x86/board.h"
#include "guests/x86/smp/smp.h"

#define HOME 2u
#define FAR 0u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct vm *part_vms[GANDALF_CPUS_MAXIMUM];

static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_LINUX_SMP, .cpu = HOME, .vcpu_count = 2, .vcpu_cpus = { HOME, FAR },
};
static struct frame frame;
static struct vm vm = { .guest = &guest };
static struct smp smp;
static struct x86 x86;
static struct vcpu vcpu = { .vm = &vm, .x86 = &x86, .frame = &frame };
static u32 sent[MESSAGES], accesses, port, size, written;
static u32 answer;
static struct x86 *served; /* whose ports are accessed */
static void (*meanwhile)(void); /* what comes before an access, where the chips look what is due */

/*
 * Own stand-ins: message_send() sends to the other of two cores only; port_read() and port_write()
 * are of the guest that is served.
 */
void message_send(u32 to, u32 message)
{
	assert_int_equal(to, core.index == HOME ? FAR : HOME);
	sent[message]++;
}

void processor_sleep(void)
{
	fail();
}

u32 port_read(struct x86 *of, u16 number, u32 bytes)
{
	assert_ptr_equal(of, served);
	if (meanwhile != NULL)
		meanwhile();
	accesses++;
	port = number;
	size = bytes;
	return answer;
}

void port_write(struct x86 *of, u16 number, u32 bytes, u32 value)
{
	assert_ptr_equal(of, served);
	accesses++;
	port = number;
	size = bytes;
	written = value;
}

/* Each core has its own vCPU of the guest, which are one here. */
static void turn_of(u32 index)
{
	core.index = index;
	smp.id = index == FAR;
	memset(part_vms, 0, sizeof(part_vms));
	part_vms[smp.id] = &vm;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(&smp, 0, sizeof(smp));
	memset(sent, 0, sizeof(sent));
	x86 = (struct x86){ .vm = &vm, .vcpu = &vcpu, .smp = &smp };
	frame = (struct frame){ .eax = 0x11223344, .eip = 0x1000 };
	vcpu.state = VCPU_RUNNING;
	accesses = 0;
	meanwhile = NULL;
	vm.vcpus = &vcpu;
	vm.state = GANDALF_STATE_RUNNING;
	served = &x86;
	turn_of(FAR);
	return 0;
}

/* The first vCPU's turn: it is about to go on. */
static void home_serves(void)
{
	turn_of(HOME);
	vcpu.state = VCPU_RUNNING;
	remote_ports_serve(&x86);
	turn_of(FAR);
}

static void one_that_asks_sleeps_until_the_answer(void **state)
{
	(void)state;
	remote_port_ask(&x86, 0x71, 1, NULL, 2);
	assert_int_equal(vcpu.state, VCPU_HALTED);
	assert_int_equal(x86.due, SMP_DUE_ASKS);
	assert_int_equal(sent[MESSAGE_PORT], 1);
	assert_false(remote_port_end(&x86));
	assert_int_equal(frame.eip, 0x1000);
	x86.slept = true; /* its timer has expired meanwhile */
	answer = 0xffffff99;
	home_serves();
	assert_int_equal(sent[MESSAGE_PORT_DONE], 1);
	assert_true(remote_port_end(&x86));
	assert_int_equal(frame.eip, 0x1002);
	assert_int_equal(frame.eax, 0x11223399);
	assert_int_equal(x86.due, 0);
	assert_false(x86.slept);
	assert_int_equal(port, 0x71);
	assert_int_equal(size, 1);
}

static void an_in_changes_its_bytes_only(void **state)
{
	static const u32 eax[] = { [2] = 0x1122cdef, [4] = 0x89abcdef };

	(void)state;
	answer = 0x89abcdef;
	for (u32 bytes = 2; bytes <= 4; bytes += 2) {
		frame.eax = 0x11223344;
		remote_port_ask(&x86, 0xffff, bytes, NULL, 1);
		home_serves();
		assert_true(remote_port_end(&x86));
		assert_int_equal(frame.eax, eax[bytes]);
		assert_int_equal(port, 0xffff);
		assert_int_equal(size, bytes);
	}
}

static void an_out_hands_its_value_over(void **state)
{
	u32 value = 0xdeadbeef;

	(void)state;
	remote_port_ask(&x86, 0x3f8, 4, &value, 1);
	home_serves();
	assert_true(remote_port_end(&x86));
	assert_int_equal(written, 0xdeadbeef);
	assert_int_equal(frame.eax, 0x11223344);
	assert_int_equal(frame.eip, 0x1001);
}

static void each_is_done_once(void **state)
{
	(void)state;
	remote_port_ask(&x86, 0x60, 1, NULL, 1);
	home_serves();
	home_serves();
	assert_int_equal(accesses, 1);
	assert_int_equal(sent[MESSAGE_PORT_DONE], 1);
	remote_port_ask(&x86, 0x60, 1, NULL, 1);
	home_serves();
	assert_int_equal(accesses, 2);
}

/* The sibling that comes first asks while the chips look at what is due, and that is found to be
 * due in the middle of the other's access. */
static void the_first_asks_meanwhile(void)
{
	volatile struct smp_page *page = smp_page_of(vm.guest, 1);

	if (page->port_number == 0) {
		page->ports[1].request = 0x61 << 8 | 1;
		page->port_number = 1;
	}
	remote_ports_serve(&x86);
}

static void one_that_is_found_due_amid_itself_is_done_once(void **state)
{
	static const struct gandalf_guest three = {
		.kind = GANDALF_KIND_LINUX_SMP, .cpu = HOME, .vcpu_count = 3,
		.vcpu_cpus = { HOME, FAR, FAR },
	};
	volatile struct smp_page *page = smp_page_of(&three, 2);

	(void)state;
	vm.guest = &three;
	page->ports[1].request = 0x60 << 8 | 1;
	page->port_number = 1;
	turn_of(HOME);
	meanwhile = the_first_asks_meanwhile;
	remote_ports_serve(&x86);
	assert_int_equal(accesses, 2);
	assert_int_equal(port, 0x61);
	for (u32 i = 1; i <= 2; i++)
		assert_int_equal(smp_own_page(&x86)->answers[i].number, 1);
	assert_int_equal(sent[MESSAGE_PORT_DONE], 2);
	assert_false(smp.serves_ports);
	vm.guest = &guest;
}

static void a_first_vcpu_that_was_stopped_serves_none(void **state)
{
	(void)state;
	remote_port_ask(&x86, 0x60, 1, NULL, 1);
	turn_of(HOME);
	vcpu.state = VCPU_OFF;
	remote_ports_serve(&x86);
	assert_int_equal(accesses, 0);
}

/* The two are on one core: no message is sent. */
static void siblings_of_a_core_wake_each_other(void **state)
{
	static const struct gandalf_guest shared = {
		.kind = GANDALF_KIND_LINUX_SMP, .cpu = HOME, .vcpu_count = 2,
		.vcpu_cpus = { HOME, HOME },
	};
	struct x86 first_x86 = { .smp = &(struct smp){ .id = 0 } };
	struct vcpu first_vcpu = { .state = VCPU_HALTED, .x86 = &first_x86 };
	struct vm first = { .guest = &shared, .vcpus = &first_vcpu,
			    .state = GANDALF_STATE_RUNNING };

	(void)state;
	first_vcpu.vm = first_x86.vm = &first;
	core.current = first_x86.vcpu = &first_vcpu;
	turn_of(HOME);
	smp.id = 1;
	vm.guest = &shared;
	part_vms[0] = &first;
	part_vms[1] = &vm;
	remote_port_ask(&x86, 0x60, 1, NULL, 1);
	assert_int_equal(first_x86.due, SMP_DUE_PORT);
	assert_true(first_x86.slept);
	assert_true(vcpu_is_notified(&first_vcpu));
	vcpu_notice(&vcpu);
	served = &first_x86;
	first_vcpu.state = VCPU_RUNNING;
	vcpu_notice(&first_vcpu);
	remote_ports_serve(&first_x86);
	assert_int_equal(accesses, 1);
	assert_true(vcpu_is_notified(&vcpu));
	assert_true(vcpu_is_notified(&first_vcpu)); /* the other's turn may come first */
	assert_true(remote_port_end(&x86));
	/* One that does not run is not asked. */
	first.state = GANDALF_STATE_OFF;
	first_x86.due = 0;
	remote_port_ask(&x86, 0x60, 1, NULL, 1);
	assert_int_equal(first_x86.due, 0);
	assert_int_equal(sent[MESSAGE_PORT] + sent[MESSAGE_PORT_DONE], 0);
	vm.guest = &guest;
}

/* The answer's message is for one of those that the core has. */
static void who_does_not_ask_sleeps_on(void **state)
{
	(void)state;
	vcpu.state = VCPU_HALTED;
	vcpu_notice(&vcpu);
	x86.due = SMP_DUE_PARKED;
	serve_message(HOME, MESSAGE_PORT_DONE);
	assert_false(vcpu_is_notified(&vcpu));
	x86.due = SMP_DUE_ASKS;
	serve_message(HOME, MESSAGE_PORT_DONE);
	assert_true(vcpu_is_notified(&vcpu));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(one_that_asks_sleeps_until_the_answer),
		TEST(an_in_changes_its_bytes_only),
		TEST(an_out_hands_its_value_over),
		TEST(each_is_done_once),
		TEST(one_that_is_found_due_amid_itself_is_done_once),
		TEST(a_first_vcpu_that_was_stopped_serves_none),
		TEST(siblings_of_a_core_wake_each_other),
		TEST(who_does_not_ask_sleeps_on),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
