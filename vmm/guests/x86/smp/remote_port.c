/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has vCPUs without the mainboard reach its ports. Such a vCPU writes what it wants into its
 * page and waits; the first vCPU, which alone touches the chips, does it when it is about to go
 * on, wakes up for it if it sleeps, and writes the answer into its own page.
 */
#include "core/work.h"
#include "guests/x86/board.h"
#include "guests/x86/line.h"
#include "guests/x86/smp/smp.h"
#include "masked_state.h"

#define REQUEST_OUT 0x80u
#define REQUEST_SIZE 0x0fu

static void whole_is_asked(void)
{
	if (vm_is_alive(part_vms[0]))
		x86_becomes_due(part_vms[0]->vcpus->x86, SMP_DUE_PORT);
}

void remote_port_ask(struct x86 *x86, u32 port, u32 size, const u32 *value, u32 length)
{
	volatile struct smp_page *page = smp_own_page(x86);
	struct smp *smp = x86->smp;
	u32 next;

	EXPECTS_MASKED();
	vcpu_count(x86->vcpu, COUNTER_port_accesses);
	next = page->port_number + 1;
	page->ports[next % 2].request = port << 8 | (value != NULL ? REQUEST_OUT : 0) | size;
	page->ports[next % 2].value = value != NULL ? *value : 0;
	page->port_number = next;
	x86->due |= SMP_DUE_ASKS;
	smp->asks_in = value == NULL;
	smp->asks_size = size;
	smp->asks_length = length;
	vcpu_halt(x86->vcpu);
	if (part_vms[0] != NULL)
		whole_is_asked();
	else
		message_send(x86->vm->guest->cpu, MESSAGE_PORT);
}

bool remote_port_end(struct x86 *x86)
{
	volatile struct smp_page *home = smp_page_of(x86->vm->guest, 0);
	struct smp *smp = x86->smp;
	u32 mask = smp->asks_size == 4 ? ~0u : (1u << 8 * smp->asks_size) - 1;
	struct frame *frame = x86->vcpu->frame;

	if (home->answers[smp->id].number != smp_own_page(x86)->port_number)
		return false;
	/* It was not asleep when it asked, whatever has become due meanwhile. */
	x86->due &= (u8)~SMP_DUE_ASKS;
	x86->slept = false;
	if (smp->asks_in)
		frame->eax = (frame->eax & ~mask) | (home->answers[smp->id].value & mask);
	frame->eip += smp->asks_length;
	return true;
}

/* One that is on its way from here looks for the answer where it arrives. One that is here goes on
 * at once if its turn comes first, and not at the end of the turn of the one that has answered. */
static void port_tell(struct x86 *x86, u32 from)
{
	u32 cpu;

	order_stores();
	cpu = part_core(x86->vm->guest, from);
	if (part_vms[from] != NULL) {
		vcpu_notify(part_vms[from]->vcpus);
		vcpu_notify(core.current);
	} else if (cpu != core.index) {
		message_send(cpu, MESSAGE_PORT_DONE);
	}
}

/* A sibling that is started anew may ask for something else while this reads what it has asked for,
 * and one that has slept asks while others are served. What was read is one request only if the
 * count, which is written last, is the same before and behind it. If not, its message comes.
 * A reset of the guest by this access ends this life of it: then nobody waits for the answer. */
static void port_answer(struct x86 *x86, u32 from)
{
	volatile struct smp_page *page = smp_page_of(x86->vm->guest, from);
	volatile struct smp_page *own = smp_own_page(x86);
	u32 number = page->port_number;
	u32 request = page->ports[number % 2].request, value = page->ports[number % 2].value;

	if (own->answers[from].number == number || page->port_number != number)
		return;
	if (request & REQUEST_OUT)
		port_write(x86, (u16)(request >> 8), request & REQUEST_SIZE, value);
	else
		value = port_read(x86, (u16)(request >> 8), request & REQUEST_SIZE);
	own->answers[from].value = value;
	own->answers[from].number = number;
	port_tell(x86, from);
}

static void ports_answer(struct x86 *x86)
{
	const struct gandalf_guest *guest = x86->vm->guest;

	for (u32 i = 1; i < guest->vcpu_count && x86->vcpu->state == VCPU_RUNNING; i++) {
		port_answer(x86, i);
		chips_pause();
	}
}

/* An access has the chips look at what is due, which may be this. Each request is done once: what
 * is asked for meanwhile waits until this round is over. */
void remote_ports_serve(struct x86 *x86)
{
	struct smp *smp = x86->smp;

	smp->ports_asked = true;
	if (smp->serves_ports)
		return;
	smp->serves_ports = true;
	while (smp->ports_asked && x86->vcpu->state == VCPU_RUNNING) {
		smp->ports_asked = false;
		ports_answer(x86);
	}
	smp->serves_ports = false;
}

static void port_serve(UNUSED u32 from, UNUSED u32 number)
{
	if (part_vms[0] != NULL)
		whole_is_asked();
}
MESSAGES_SERVED(MESSAGE_PORT, 1, port_serve);

/* Only who asks wakes up. Whether it is the one that was answered it sees itself. */
static void port_done_serve(UNUSED u32 from, UNUSED u32 number)
{
	for (u32 i = 1; i < GANDALF_CPUS_MAXIMUM; i++)
		if (part_vms[i] != NULL && (part_vms[i]->vcpus->x86->due & SMP_DUE_ASKS) != 0)
			vcpu_notify(part_vms[i]->vcpus);
}
MESSAGES_SERVED(MESSAGE_PORT_DONE, 1, port_done_serve);
