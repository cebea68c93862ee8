/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test kernel pc-crowd.elf, for a guest with up to eight vCPUs: has the VMM do what takes it
 * longer the more vCPUs or guests there are. All vCPUs interrupt all others. If the command line is
 * "moves" the first one has all others move; if it is "manages" it restarts all guests on its list.
 * Then the kernel resets the machine, which ends all of them at once. How long that takes is for
 * tests/boot/test_masked.py to see.
 */
#include "control.h"
#include "print.h"
#include "suite.h"
#include "vcpus.h"

#define ROUNDS 200U
#define GUESTS 9U

static volatile uint32_t begun = 1, interrupts[VCPUS_MAXIMUM];

static void count(struct trap_frame *frame)
{
	(void)frame;
	interrupts[own_index()]++;
}

/* Half of the rounds it waits for an interrupt, and half of them it goes on at once. */
static void crowd(void)
{
	begun++;
	for (uint32_t i = 0;; i++) {
		ipi_send(0xff, i % IPIS);
		if (i % 2)
			irq_wait();
	}
}

static void all_start(void)
{
	uint32_t before;

	do {
		before = begun;
		if (vcpu_start(before, crowd) != 0)
			return;
		while (begun == before)
			__asm__ volatile("pause");
	} while (begun < VCPUS_MAXIMUM);
}

static int32_t act(uint32_t place, uint32_t action, uint32_t c, uint32_t d)
{
	return hypercall(GANDALF_HYPERCALL_ACT, action | place << GANDALF_PLACE_SHIFT, c, d);
}

/* A vCPU may be on its way, and a guest busy: then it is asked again in the next round. */
static void all_move(uint32_t round)
{
	for (uint32_t i = 1; i < begun; i++)
		act(0, GANDALF_ACTION_MOVE, i, (i + round / 8) % begun);
}

static void all_restart(void)
{
	for (uint32_t place = 1; place < GUESTS; place++)
		act(place, GANDALF_ACTION_RESTART, 0, 0);
}

static uint32_t moves(void)
{
	uint32_t sum = 0;

	for (uint32_t i = 1; i < begun; i++)
		sum += (uint32_t)act(0, GANDALF_ACTION_WHERE, i, 0) >> 8;
	return sum;
}

void suite_run(void)
{
	uint32_t least = 0xffffffff;

	vcpus_begin(count);
	all_start();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		ipi_send(0xff, round % IPIS);
		if (command_line_begins("moves"))
			all_move(round);
		if (command_line_begins("manages"))
			all_restart();
	}
	for (uint32_t i = 0; i < begun; i++)
		least = interrupts[i] < least ? interrupts[i] : least;
	print("crowd of %u, each interrupted %u times at least, moves %u\n", begun, least,
	      moves());
	port_out(0x64, 0xfe);
	for (;;)
		;
}
