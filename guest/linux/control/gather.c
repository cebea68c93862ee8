/* SPDX-License-Identifier: Apache-2.0 */
/* The command gather, which puts the vCPUs that move on the first CPUs of the machine, so that the
 * others halt when their RTOSes do, or spreads them again. */
#include <stdio.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"

/* Has how many vCPUs each CPU has that move. */
struct load {
	unsigned of[GANDALF_CPUS_MAXIMUM];
	uint32_t cpus;
};

/* Has the guests whose vCPUs move. */
struct movers {
	struct guest guests[GANDALF_GUESTS_MAXIMUM];
	unsigned count;
};

/* Returns false after a sentence, as if there is none. */
static bool movers_read(const struct gandalf_system_status *system, struct movers *movers)
{
	uint32_t cpu, moves;

	movers->count = 0;
	for (uint32_t place = 0; place < system->guest_count; place++) {
		struct guest *guest = &movers->guests[movers->count];

		if (!guest_read(place, guest))
			return false;
		movers->count += guest_vcpu(guest, 0, &cpu, &moves);
	}
	return movers->count ||
	       !fail("no guest has vCPUs that move: no description has `migrate = true`");
}

/* Returns the CPU with the fewest vCPUs of those that have not been refused, or cpus. Of equals it
 * is the one that the vCPU has already, or the first. */
static uint32_t cpu_choose(const struct load *load, unsigned refused_cpus, uint32_t at)
{
	uint32_t best = load->cpus;

	for (uint32_t cpu = 0; cpu < load->cpus; cpu++) {
		if (refused_cpus & 1u << cpu)
			continue;
		if (best == load->cpus || load->of[cpu] < load->of[best] ||
		    (load->of[cpu] == load->of[best] && cpu == at))
			best = cpu;
	}
	return best;
}

static void placed(const struct arguments *arguments, const struct guest *guest, uint32_t vcpu,
		   uint32_t cpu)
{
	if (!json_wanted(arguments)) {
		printf("guest %s: vCPU %u is on CPU %u\n", guest->status.name, vcpu, cpu);
		return;
	}
	json_object(NULL);
	json_string("guest", guest->status.name);
	json_number("vcpu", vcpu);
	json_number("cpu", cpu);
	json_end();
}

/* The description says on which CPUs a vCPU may be: one that it does not name is refused. A vCPU
 * that has never begun does not move, and needs no CPU. Returns the exit status. */
static int vcpu_place(const struct arguments *arguments, const struct guest *guest, uint32_t vcpu,
		      uint32_t at, struct load *load)
{
	unsigned refused_cpus = 0;
	uint32_t cpu;

	while ((cpu = cpu_choose(load, refused_cpus, at)) < load->cpus) {
		long error = guest_move(guest, vcpu, cpu);

		if (error == GANDALF_ERROR_STATE)
			return 0;
		if (error == 0) {
			load->of[cpu]++;
			placed(arguments, guest, vcpu, cpu);
			return 0;
		}
		if (error != GANDALF_ERROR_ARGUMENT)
			return move_refused(guest, vcpu, cpu, error);
		refused_cpus |= 1u << cpu;
	}
	return fail("vCPU %u of guest %s may be on none of the first %u CPUs", vcpu,
		    guest->status.name, load->cpus);
}

/* Counts the first vCPUs, which do not move. Returns the exit status, which is that of the one on
 * the last CPU. */
static int firsts_count(const struct movers *movers, struct load *load)
{
	const struct guest *last = NULL;
	uint32_t least = load->cpus, cpu, moves;

	for (unsigned i = 0; i < movers->count; i++) {
		if (!guest_vcpu(&movers->guests[i], 0, &cpu, &moves))
			continue;
		if (cpu < load->cpus)
			load->of[cpu]++;
		if (cpu >= least) {
			least = cpu + 1;
			last = &movers->guests[i];
		}
	}
	return last && fail("vCPU 0 of guest %s does not move, and is on CPU %u: gather %u is the "
			    "least", last->status.name, least - 1, least);
}

static int guest_gather(const struct arguments *arguments, const struct guest *guest,
			struct load *load)
{
	uint32_t cpu, moves;

	for (uint32_t vcpu = 1; guest_vcpu(guest, vcpu, &cpu, &moves); vcpu++)
		if (vcpu_place(arguments, guest, vcpu, cpu, load))
			return 1;
	return 0;
}

static int movers_gather(const struct arguments *arguments, const struct movers *movers,
			 struct load *load)
{
	int status = 0;

	if (json_wanted(arguments))
		json_array(NULL);
	for (unsigned i = 0; !status && i < movers->count; i++)
		status = guest_gather(arguments, &movers->guests[i], load);
	if (json_wanted(arguments))
		json_end();
	return status;
}

/* Nothing moves unless all first vCPUs are where they may stay. */
int command_gather(const struct arguments *arguments)
{
	struct load load = {.cpus = arguments->cpu};
	struct gandalf_system_status system;
	struct movers movers;

	if (!system_read(&system) || !movers_read(&system, &movers))
		return 1;
	if (load.cpus > cpus_of(&system))
		return fail("the machine has %u CPUs", cpus_of(&system));
	if (firsts_count(&movers, &load))
		return 1;
	return movers_gather(arguments, &movers, &load);
}
