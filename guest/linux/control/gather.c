/* SPDX-License-Identifier: Apache-2.0 */
/* The command gather, which puts the vCPUs that move on few CPUs, so that the others halt when
 * their RTOSes do, or spreads them again. */
#include <stdio.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"

/* Has how many vCPUs each CPU has, and which CPUs are to have any, as bits. */
struct load {
	unsigned of[GANDALF_CPUS_MAXIMUM];
	unsigned kept;
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

/* Returns the one of these CPUs that has the fewest vCPUs, or GANDALF_CPUS_MAXIMUM if there is
 * none. Of equals it is the one that the vCPU has already, or the first. */
static uint32_t cpu_choose(const struct load *load, unsigned cpus, uint32_t at)
{
	uint32_t best = GANDALF_CPUS_MAXIMUM;

	for (uint32_t cpu = 0; cpu < GANDALF_CPUS_MAXIMUM; cpu++) {
		if ((cpus & 1u << cpu) == 0)
			continue;
		if (best == GANDALF_CPUS_MAXIMUM || load->of[cpu] < load->of[best] ||
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
	unsigned cpus = load->kept;
	uint32_t cpu;

	while ((cpu = cpu_choose(load, cpus, at)) < GANDALF_CPUS_MAXIMUM) {
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
		cpus &= ~(1u << cpu);
	}
	return fail("vCPU %u of guest %s may be on none of the CPUs that are to have any", vcpu,
		    guest->status.name);
}

/* Returns whether the CPU was not to have any before. */
static bool cpu_keep(struct load *load, uint32_t cpu)
{
	unsigned before = load->kept;

	load->kept |= 1u << cpu;
	return load->kept != before;
}

/* Chooses the CPUs: those of the first vCPUs, which do not move, and then the first of the machine.
 * Returns the exit status. */
static int cpus_keep(const struct movers *movers, struct load *load, unsigned wanted)
{
	unsigned count = 0;
	uint32_t cpu, moves;

	for (unsigned i = 0; i < movers->count; i++) {
		if (!guest_vcpu(&movers->guests[i], 0, &cpu, &moves))
			continue;
		load->of[cpu]++;
		count += cpu_keep(load, cpu);
	}
	if (count > wanted)
		return fail("first vCPUs do not move, and are on %u CPUs: gather %u is the least",
			    count, count);
	for (cpu = 0; count < wanted; cpu++)
		count += cpu_keep(load, cpu);
	return 0;
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

/* Nothing moves unless all first vCPUs may stay where they are. */
int command_gather(const struct arguments *arguments)
{
	struct load load = {.kept = 0};
	struct gandalf_system_status system;
	struct movers movers;

	if (!system_read(&system) || !movers_read(&system, &movers))
		return 1;
	if (arguments->cpu > cpus_of(&system))
		return fail("the machine has %u CPUs", cpus_of(&system));
	if (cpus_keep(&movers, &load, arguments->cpu))
		return 1;
	return movers_gather(arguments, &movers, &load);
}
