/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the plug-in that measures, each NAME=VALUE:
 *
 *	out=FILE	where the result goes, when the measurement ends or QEMU does
 *	begin=ADDRESS	begin before the instruction at this linear address, when it is next
 *			executed
 *	end=ADDRESS	end before the instruction at this one
 *	control=PATH	a Unix socket that takes "begin" and "end" while the machine is stopped;
 *			with begin=, "begin" arms it. Without either option it begins at once
 *	for=NS		end after so many nanoseconds of virtual time, by the next interrupt
 *	stop=1		stop the machine when the measurement ends by itself
 *	series=1	measure from each begin= to the next end=, into FILE.0, FILE.1 and so on; a
 *			begin= within a measurement begins it anew
 *	between=1	with series=1: from the first end= on also measure what is between the
 *			others, into FILE.between.0 and so on
 *	last=ADDRESS	end the last of those before the instruction at this one, and all, into
 *			FILE.last
 *	cache=1		also count misses of caches and TLBs, by a model (cache.h); takes a few
 *			times as long
 *	record=N	also write the last windows of at least N instructions, with the virtual
 *			time at which each began
 *	sections=ADDRESS	also write the VMM's masked windows by where they begin, how many
 *			and the longest of each; an RTOS's code segments have a base from this
 *			address on
 *	vmm=LOW-HIGH	what of ring 0 is the VMM; all unless given, 0-0 for a machine without one
 *	guest=LOW-HIGH	what of ring 3 is a guest's kernel, as Xen's; nothing unless given
 *	from=ADDRESS,to=ADDRESS		an interval to be measured, from the last execution of one
 *			to that of the other, up to eight times; if both are the same, from one
 *			execution to the next. They are instructions
 *	expired=ADDRESS,to=ADDRESS	the same from the moment when the local APIC's timer
 *			expired that was delivered last before the first address is executed;
 *			needs time=1
 *	time=1		intervals are nanoseconds of virtual time, in which the CPU may sleep
 *	samples=1	also write how often each length of an interval came
 *	period=NS,deviation=NS	also write which of the first intervals are longer or shorter than a
 *			period by more than that, and the longest
 *	ring=LOW-HIGH	with each of those, this part of physical memory as it was at its end, in
 *			hex
 *	history=FILE,rings=N,entries=N	write all that was written to ring= while the measurement
 *			was on: it holds so many rings, each a 32-bit word that counts what was
 *			written, and so many entries
 *	set=ADDRESS	set the 32-bit word at this physical address to 1 where the measurement
 *			begins: a guest's own, which has it record something; up to eight times
 *	vcpu=N		of several CPUs measure this one, from 0 on; what the others execute counts
 *			nowhere. They must take turns in one thread (-accel tcg,thread=single). Not
 *			with cache=, time= and record=
 */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "fail.h"
#include "measurement.h"

struct options options = { .vmm_size = UINT64_MAX };

static void parse_range(const char *value, uint64_t *low, uint64_t *size)
{
	struct range range = argument_range(value);

	*low = range.low;
	*size = range.high - range.low;
}

static void parse_interval(uint64_t linear, bool to, bool expired)
{
	static bool half;

	if (to != half || options.intervals == INTERVALS)
		fail("from= or expired= and to= come in pairs, at most eight");
	half = !to;
	if (!to) {
		intervals[options.intervals].from = linear;
		intervals[options.intervals].expired = expired;
		return;
	}
	intervals[options.intervals].to = linear;
	intervals[options.intervals].sample = malloc(SAMPLES * sizeof(uint32_t));
	if (!intervals[options.intervals].sample)
		fail("there is no memory for the samples of an interval");
	options.intervals++;
}

static void parse_vcpu(const char *value)
{
	options.vcpu = (unsigned)argument_number(value);
	options.has_vcpu = true;
}

static void parse_of_ring(const char *argument, char *value)
{
	if (strcmp(argument, "ring") == 0)
		parse_range(value, &options.ring, &options.ring_size);
	else if (strcmp(argument, "history") == 0)
		options.history = strdup(value);
	else if (strcmp(argument, "rings") == 0)
		options.rings = argument_number(value);
	else if (strcmp(argument, "entries") == 0)
		options.entries = argument_number(value);
	else
		fail("there is no such option");
}

static void parse_of_intervals(const char *argument, char *value)
{
	if (strcmp(argument, "from") == 0 || strcmp(argument, "to") == 0)
		parse_interval(argument_number(value), argument[0] == 't', false);
	else if (strcmp(argument, "expired") == 0)
		parse_interval(argument_number(value), false, true);
	else if (strcmp(argument, "set") == 0 && options.sets < SETS)
		options.set[options.sets++] = argument_number(value);
	else if (strcmp(argument, "cache") == 0)
		options.cache = argument_number(value) != 0;
	else if (strcmp(argument, "time") == 0)
		options.time = argument_number(value) != 0;
	else if (strcmp(argument, "samples") == 0)
		options.samples = argument_number(value) != 0;
	else if (strcmp(argument, "period") == 0)
		options.period = argument_number(value);
	else if (strcmp(argument, "deviation") == 0)
		options.deviation = argument_number(value);
	else if (strcmp(argument, "vcpu") == 0)
		parse_vcpu(value);
	else
		parse_of_ring(argument, value);
}

static void parse(char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		fail("options are NAME=VALUE");
	*value++ = '\0';
	if (strcmp(argument, "out") == 0) {
		options.output = strdup(value);
	} else if (strcmp(argument, "control") == 0) {
		options.control = strdup(value);
	} else if (strcmp(argument, "vmm") == 0) {
		parse_range(value, &options.vmm, &options.vmm_size);
	} else if (strcmp(argument, "guest") == 0) {
		parse_range(value, &options.guest, &options.guest_size);
	} else if (strcmp(argument, "for") == 0) {
		options.nanoseconds = argument_number(value);
	} else if (strcmp(argument, "stop") == 0) {
		options.stop = argument_number(value) != 0;
	} else if (strcmp(argument, "series") == 0) {
		options.series = argument_number(value) != 0;
	} else if (strcmp(argument, "between") == 0) {
		options.between = argument_number(value) != 0;
	} else if (strcmp(argument, "last") == 0) {
		options.last = argument_number(value);
	} else if (strcmp(argument, "record") == 0) {
		options.record = argument_number(value);
	} else if (strcmp(argument, "sections") == 0) {
		options.rtos = argument_number(value);
	} else if (strcmp(argument, "begin") == 0) {
		options.has_begin = true;
		options.begin = argument_number(value);
	} else if (strcmp(argument, "end") == 0) {
		options.has_end = true;
		options.end = argument_number(value);
	} else {
		parse_of_intervals(argument, value);
	}
}

void options_read(int count, char **arguments)
{
	for (int i = 0; i < count; i++)
		parse(arguments[i]);
	if (options.series && (!options.output || options.control || !options.has_begin))
		fail("series=1 needs out= and begin=, and takes no control=");
	if (options.between && (!options.series || !options.last))
		fail("between=1 needs series=1 and last=");
	if (options.has_vcpu && (options.cache || options.time || options.record))
		fail("vcpu= takes no cache=, time= or record=");
}
