/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what other cores send to one, and what their vCPUs send to a vCPU of it: messages and
 * interrupts at any moment, also amid the service of others, while time goes on, an RTOS has the
 * CPU or not, and the guest stores to its local APIC, ends and begins anew.
 *
 * Nothing may be served that was not sent, nor more of it in a time than core/message.h and
 * guests/x86/smp/ipi.c allow. When all is quiet everything that was sent has been served.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "input.h"

#include "fake/asked.h"
#include "fake/on_its_way.h"

#include "arch/ia32/entry.h"
#include "core/core.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/message.h"
#include "core/module.h"
#include "core/time.h"
#include "core/trace.h"
#include "guests/x86/board.h"
#include "guests/x86/inject.h"
#include "guests/x86/smp/smp.h"

enum { FIRST, READER, THIRD, LAST, CORES };
enum { SPURIOUS = 0xf0, TASK_PRIORITY = 0x80, EOI = 0xb0, LVT_TIMER = 0x320, COUNT = 0x380 };

#define SUBJECT READER /* the number of the vCPU that is interrupted, whose core that is */
#define IPIS 32u
#define TSC_KHZ 1000000u
#define WINDOW (TSC_KHZ / 20)
/* In each window, which begins with the first of them, or with the end of a vCPU's rest. A time
 * that is as long may lie on two of them. Those of an RTOS begin with one: then a time has one less
 * of the first one at least. */
#define AT_ONCE 8u
#define OF_RTOS 2u
/* Of vectors: less than AT_ONCE in a window, less than that in the next one, and then all at once.
 * Behind that it rests for a window. */
#define IPIS_AT_ONCE (2 * (AT_ONCE - 1) + IPIS)
#define TIMES 128u
#define PLACE_OF_RTOS 2u
/* Until all is quiet: a window for each message that can be on its way, and some more. */
#define QUIET_WINDOWS (CORES * MESSAGES)
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

u32 time_tsc_khz = TSC_KHZ, pool_distance;
struct gandalf_table system_table = { .cpus = CORES };
struct vm *part_vms[GANDALF_CPUS_MAXIMUM];
void (*trap_handlers[VECTORS])(struct frame *frame);

static const struct guest_kind linux_kind = { .real_time = false };
static const struct guest_kind rtos_kind = { .real_time = true };
static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_LINUX_SMP, .vcpu_count = CORES, .vcpu_cpus = { 0, 1, 2, 3 },
};
static struct frame frame, rtos_frame, vmm_frame;
static struct vm machines[CORES], rtos_machine;
static u32 flag; /* the guest's interrupt flag */
static struct smp smps[CORES];
static struct x86 x86s[CORES];
static struct vcpu vcpus_made[CORES];
static struct vcpu rtos;
static u32 registers[1024];

/* The last moments at which something happened. */
struct moments {
	u64 at[TIMES];
	u32 count;
};

static struct input input;
/* The reader is to look for messages: by the interrupt of vCPUs, that of doorbells, and the other
 * one. */
static bool interrupted_by_vcpu, rung, interrupted;
static bool amid;         /* what is sent may come amid the service of others */
static u32 owed[CORES][MESSAGES], again[CORES][MESSAGES];
static u32 sent[IPIS], got[IPIS];
static bool waits[IPIS]; /* it has been sent, and not been delivered since */
static struct moments served, served_of_rtos, delivered;
static struct deadline *deadlines[4];

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* No more than so many things may have happened in the time of a window, of which this is one. */
static void happens(struct moments *moments, u32 most)
{
	u32 oldest = moments->count - most;

	if (moments->count >= most)
		require(processor.tsc - moments->at[oldest % TIMES] >= WINDOW);
	moments->at[moments->count++ % TIMES] = processor.tsc;
}

/* --- What the code under test calls --- */

/*
 * Own stand-ins: apic_interrupt() and apic_interrupt_cores() interrupt the reader, deadline_init()
 * and deadline_set() keep all deadlines, trap_set_handler() all entries.
 */
void apic_interrupt(u32 id, u32 vector)
{
	require(vector >= VECTOR_APIC_IPI && vector <= VECTOR_APIC_MESSAGE);
	if (id == core_cpu_ids[READER])
		*(vector == VECTOR_APIC_IPI	  ? &interrupted_by_vcpu
		  : vector == VECTOR_APIC_DOORBELL ? &rung
						   : &interrupted) = true;
}

void apic_interrupt_cores(u32 cores, u32 vector)
{
	if (cores & 1u << READER)
		apic_interrupt(core_cpu_ids[READER], vector);
}

void trap_set_handler(unsigned vector, void (*handler)(struct frame *frame))
{
	trap_handlers[vector] = handler;
}

void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *), u32 priority)
{
	u32 place = 0;

	*deadline = (struct deadline){ .time = TIME_NEVER, .priority = priority, .expire = expire };
	while (deadlines[place] != NULL && deadlines[place] != deadline)
		require(++place < ARRAY_SIZE(deadlines));
	deadlines[place] = deadline;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	deadline->time = time;
}

static void messages_serve(u32 from, u32 message)
{
	require(core.index == READER && owed[from][message] != 0);
	owed[from][message] = again[from][message];
	again[from][message] = 0;
	happens(&served, 2 * AT_ONCE);
	if (core.current == &rtos)
		happens(&served_of_rtos, 2 * OF_RTOS - 1);
}
MESSAGES_SERVED(0, MESSAGE_IPI, messages_serve);

static void messages_serve_last(u32 from, u32 number)
{
	messages_serve(from, MESSAGE_IPI + GANDALF_CPUS_MAXIMUM + number);
}
MESSAGES_SERVED(MESSAGE_IPI + GANDALF_CPUS_MAXIMUM, MESSAGES - MESSAGE_IPI - GANDALF_CPUS_MAXIMUM,
		messages_serve_last);

/* --- What cores do --- */

static void core_is(u32 index)
{
	core.index = index;
	memset(part_vms, 0, sizeof(part_vms));
	part_vms[index] = &machines[index];
	ipis_prepare(&smps[index], &guest);
}

static void send(u32 from, u32 message)
{
	core_is(from);
	/* It is being served, and this comes behind that. */
	again[from][message] = owed[from][message] && !message_is_on_its_way(from, READER, message);
	owed[from][message] = 1;
	message_send(READER, message);
	core_is(READER);
}

static void interrupt(u32 from, u32 vector)
{
	const struct hypercall *const *at = UNITS_FIRST(hypercalls);

	while ((*at)->number != GANDALF_HYPERCALL_IPI)
		at++;
	core_is(from);
	frame.ebx = 1u << SUBJECT;
	frame.ecx = GANDALF_IPI_FIRST + vector;
	sent[vector]++;
	waits[vector] = true;
	require((*at)->function(&vcpus_made[from]) == 0);
	core_is(READER);
}

static void any_is_sent(void)
{
	static const u32 senders[] = { FIRST, THIRD, LAST };
	u32 choice = input_take(&input, 2), from = senders[choice % ARRAY_SIZE(senders)];
	u32 message = choice / 4 % MESSAGES;

	if (message - MESSAGE_IPI < GANDALF_CPUS_MAXIMUM || choice >> 15 != 0)
		interrupt(from, choice / 4 % IPIS);
	else
		send(from, message);
}

/* What another core does where the reader's stores are seen, or lets interrupts in. */
static void in_the_middle(void)
{
	void (*order)(void) = processor.order;

	processor.order = NULL;
	if (amid && core.index == READER && input_take(&input, 1) % 4 == 3)
		any_is_sent();
	processor.order = order;
}

/* Stands for guests/rtos/rung.c: an RTOS that runs takes its doorbell as that enters. */
static void doorbell_take(const struct frame *of)
{
	u32 from = 0;

	if (of == &rtos_frame)
		from = message_take_doorbell(PLACE_OF_RTOS, MESSAGES_OF_RTOS);
	if (from == 0)
		message_interrupt();
	for (; from != 0; from &= from - 1)
		messages_serve((u32)__builtin_ctz(from), MESSAGE_DOORBELL + PLACE_OF_RTOS);
}

/* Of a guest, whose frame it is, or of the VMM. */
static void interrupt_take(struct frame *of)
{
	if (rung) {
		rung = false;
		doorbell_take(of);
	}
	if (interrupted_by_vcpu) {
		interrupted_by_vcpu = false;
		trap_handlers[VECTOR_APIC_IPI](of);
	}
	if (interrupted) {
		interrupted = false;
		message_interrupt();
	}
}

static void in_between(void)
{
	in_the_middle();
	interrupt_take(&vmm_frame);
}

static void time_goes_on(u32 ticks)
{
	processor.tsc += ticks;
	for (u32 i = 0; i < ARRAY_SIZE(deadlines) && deadlines[i] != NULL; i++)
		if (deadlines[i]->time <= processor.tsc) {
			deadlines[i]->time = TIME_NEVER;
			deadlines[i]->time = deadlines[i]->expire(deadlines[i]);
		}
}

/* --- The vCPU --- */

static bool runs(void)
{
	return machines[SUBJECT].state == GANDALF_STATE_RUNNING;
}

static bool is_on_its_way(u32 vector)
{
	for (u32 from = 0; from < CORES; from++) {
		const volatile struct smp_page *page = part_kind_of(from, SUBJECT);

		if (from != READER &&
		    ((page->ipi_raised ^ smp_page_of(&guest, SUBJECT)->ipi_seen[from]) >> vector &
		     1) != 0)
			return true;
	}
	return false;
}

static void is_delivered(u32 number)
{
	u32 vector = number - GANDALF_IPI_FIRST;

	require(vector < IPIS && got[vector] < sent[vector]);
	got[vector]++;
	waits[vector] = is_on_its_way(vector);
	happens(&delivered, IPIS_AT_ONCE);
}

static void interrupt_get(void)
{
	if (runs() && x86s[SUBJECT].interrupt_waits)
		is_delivered(smp_acknowledge(&x86s[SUBJECT]));
}

/*
 * Own stand-ins: inject() and trap_interrupt() deliver what comes. As the interrupt enters, if the
 * guest takes it at once. It is always the kernel that is interrupted: entry_copy() and
 * shadow_make_writable() are not called.
 */
u32 entry_copy(void *to, const void *from, u32 size)
{
	(void)to;
	(void)from;
	require(false);
	return size;
}

bool shadow_make_writable(struct x86 *x86, u32 linear)
{
	(void)x86;
	(void)linear;
	require(false);
	return false;
}

bool inject(struct x86 *x86, unsigned vector, u32 error)
{
	require(x86 == &x86s[SUBJECT] && core.index == READER && runs());
	require(core.current == x86->vcpu && flag != 0 && error == INJECT_NO_ERROR);
	is_delivered(vector);
	return true;
}

void trap_interrupt(struct frame *of)
{
	(void)of;
	message_interrupt();
}

/* By what it stores the guest itself may keep back what it has been sent, and get it later with
 * other interrupts. */
static void store(u32 offset, u32 value)
{
	delivered.count = 0;
	smp_apic_store(&x86s[SUBJECT], offset, value);
}

/* Of any kind, but for the timer, by which it would interrupt itself. */
static void any_is_stored(void)
{
	u32 offset = input_take(&input, 1) << 4, value = input_take(&input, 4);

	if (runs() && offset != LVT_TIMER && offset != COUNT)
		store(offset, value);
}

static void apic_works(void)
{
	store(SPURIOUS, 0x1ff);
	store(TASK_PRIORITY, 0);
	store(GANDALF_APIC_AUTOMATIC_END, 1);
	for (u32 i = 0; i < IPIS; i++)
		store(EOI, 0);
}

static void life_changes(void)
{
	bool ran = runs();

	amid = false;
	delivered.count = 0;
	memset(sent, 0, sizeof(sent));
	memset(got, 0, sizeof(got));
	memset(waits, 0, sizeof(waits));
	machines[SUBJECT].state = ran ? GANDALF_STATE_OFF : GANDALF_STATE_RUNNING;
	if (ran) {
		smp_apic_leave(&x86s[SUBJECT]);
		ipis_leave(&smps[SUBJECT]);
	} else {
		smp_apic_reset(&x86s[SUBJECT]);
		ipis_reset(&smps[SUBJECT]);
		apic_works();
	}
	amid = true;
}

/* --- A run --- */

static void outboxes_begin(void)
{
	static bool mapped;

	if (!mapped && (mmap((void *)LAYOUT_OUTBOXES, OUTBOXES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
			mmap((void *)LAYOUT_APIC, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED))
		abort();
	mapped = true;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
}

static void vcpus_begin(void)
{
	for (u32 i = 0; i < CORES; i++) {
		machines[i] = (struct vm){ .guest = &guest, .vcpus = &vcpus_made[i], .number = i,
					   .kind = &linux_kind, .state = GANDALF_STATE_RUNNING };
		vcpus_made[i] = (struct vcpu){ .vm = &machines[i], .x86 = &x86s[i],
					       .trace = trace_ring_of(0),
					       .state = VCPU_RUNNING, .frame = &frame };
		smps[i] = (struct smp){ .id = i, .x86 = &x86s[i], .cpus = (1 << CORES) - 1,
					.registers = (u32)(uintptr_t)registers };
		x86s[i] = (struct x86){ .vm = &machines[i], .vcpu = &vcpus_made[i],
					.smp = &smps[i], .siblings = true, .flag = &flag };
		core_cpu_ids[i] = (u8)(0x10 + i);
		outbox_of(i)->alive = 1;
	}
	flag = EFLAGS_IF;
	rtos_machine = (struct vm){ .kind = &rtos_kind };
	rtos = (struct vcpu){ .state = VCPU_RUNNING, .priority = 1, .vm = &rtos_machine,
			      .trace = trace_ring_of(1), .frame = &rtos_frame };
}

static void begin(void)
{
	amid = interrupted = interrupted_by_vcpu = rung = false;
	memset(owed, 0, sizeof(owed));
	memset(again, 0, sizeof(again));
	memset(deadlines, 0, sizeof(deadlines));
	served.count = served_of_rtos.count = delivered.count = 0;
	processor = (struct processor){ .order = in_the_middle, .admit = in_between,
					.tsc = processor.tsc + 10 * WINDOW };
	outboxes_begin();
	vcpus_begin();
	core = (struct core){ .pauses = true, .current = &vcpus_made[SUBJECT] };
	core_is(READER);
	messages_assign();
	message_init();
	machines[SUBJECT].state = GANDALF_STATE_OFF;
	life_changes();
}

/* As fast as they can send, and the vCPU gets all. */
static void storm(void)
{
	u32 choice = input_take(&input, 1), from = choice & 1 ? FIRST : LAST;

	for (u32 round = choice >> 5; round > 0; round--) {
		for (u32 i = 0; i < IPIS; i++)
			if (choice & 2)
				interrupt(from, i);
			else
				send(from, i);
		interrupt_take(core.current->frame);
		for (u32 i = 0; i < IPIS; i++)
			interrupt_get();
	}
}

static void step(void)
{
	switch (input_take(&input, 1) % 10) {
	case 0:
	case 1:
		any_is_sent();
		break;
	case 2:
		interrupt_take(core.current->frame);
		break;
	case 3:
		time_goes_on(input_take(&input, 2));
		break;
	case 4:
		interrupt_get();
		break;
	case 5:
		core.current = core.current == &rtos ? &vcpus_made[SUBJECT] : &rtos;
		break;
	case 6:
		any_is_stored();
		break;
	case 7:
		if (input_take(&input, 1) % 16 == 0)
			life_changes();
		break;
	case 8:
		storm();
		break;
	case 9:
		flag ^= EFLAGS_IF;
		break;
	}
}

/* Nobody sends any more, and the reader has time for all. */
static void end(void)
{
	amid = false;
	core.current = &vcpus_made[SUBJECT];
	flag = EFLAGS_IF;
	if (runs())
		apic_works();
	for (u32 i = 0; i < QUIET_WINDOWS; i++) {
		while (interrupted || interrupted_by_vcpu || rung)
			interrupt_take(&frame);
		while (runs() && x86s[SUBJECT].interrupt_waits)
			interrupt_get();
		time_goes_on(2 * WINDOW);
	}
	for (u32 from = 0; from < CORES; from++)
		for (u32 message = 0; message < MESSAGES; message++)
			require(owed[from][message] == 0);
	for (u32 vector = 0; vector < IPIS; vector++)
		require(!runs() || !waits[vector]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input = (struct input){ data, size };
	begin();
	while (input.size > 0)
		step();
	end();
	return 0;
}
