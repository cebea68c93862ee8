/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds in which another CPU acts at a chosen instruction of the VMM: see nth.h. */
#include "nth.h"

#include <stddef.h>
#include <stdio.h>

#include "cpu.h"
#include "rounds.h"

struct nth_round nth;

void nth_begin(void)
{
	cpu_physical_memory_rw(rounds.label, &nth.label, sizeof(nth.label), false);
	nth.on = nth.label.mark == NTH_MARK && nth.label.operation != 0;
	nth.hit = false;
	rounds.length = 0;
}

static void act_now(void)
{
	uint32_t go = 1;

	nth.hit = true;
	cpu_physical_memory_rw(rounds.label + offsetof(struct nth_label, go), &go, sizeof(go),
			       true);
	cpu_exit(cpu.qemu);
}

bool nth_step(uint32_t linear)
{
	if (!nth.on || nth.hit)
		return false;
	rounds_step(linear);
	if (rounds.length == nth.label.at)
		act_now();
	return nth.hit;
}

void nth_end(void)
{
	if (!nth.on)
		return;
	nth.on = false;
	if (nth.hit) {
		fprintf(rounds.output, "hit %u %u 0x%x\n", nth.label.operation, nth.label.at,
			rounds.path[nth.label.at - 1]);
		return;
	}
	fprintf(rounds.output, "path %u %u", nth.label.operation, nth.label.at);
	for (uint32_t i = 0; i < rounds.length; i++)
		fprintf(rounds.output, " 0x%x", rounds.path[i]);
	fprintf(rounds.output, "\n");
}
