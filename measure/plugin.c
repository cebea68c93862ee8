/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that measures an IA-32 or x86-64 CPU from outside, the machine's one or, with
 * vcpu=, one of several; `gandalf measure` drives it. Loads with Debian 12's QEMU 7.2, icount or
 * not. options.c has its options.
 *
 * How exact it is: measurement.c says what is looked at and why that is enough, measurement.h what
 * counts as an instruction, tests/measure proves it. A store into the block that executes it
 * counts twice. Guests cannot notice, unless set= is given: their output and their clocks are the
 * same with and without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "control.h"
#include "cpu.h"
#include "fail.h"
#include "measurement.h"
#include "options.h"
#include "qemu.h"
#include "report.h"
#include "turn.h"

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

const char plugin_name[] = "measure";

/* What is to be done where an instruction of interest is executed. Points are at offset bytes from
 * the beginning of their block. */
enum point { POINT_BEGIN, POINT_END, POINT_LAST, POINT_FROM, POINT_TO };

/* Where the block begins that is executed. QEMU keeps EIP up to date only there. */
static uint64_t block_begin;

/* Bytes of a word of QEMU's: 8 in qemu-system-x86_64. */
static size_t word;

/* Whether what is measured is between two of a series, and whether one of it is over. */
static bool is_between, has_first;

/* Writes a measurement to FILE.SUFFIX. */
static void write_as(const char *suffix)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s.%s", options.output, suffix) >= (int)sizeof(path))
		fail("the name of the output file is too long");
	check(report_write(path));
}

/* Writes the next measurement of a series, or of what is between. */
static void write_in_series(void)
{
	static unsigned numbers[2];
	char suffix[24];

	snprintf(suffix, sizeof(suffix), "%s%u", is_between ? "between." : "",
		 numbers[is_between]++);
	write_as(suffix);
}

/* Writes a measurement, and is ready for another. */
static void end_in_series(uint64_t linear)
{
	write_in_series();
	has_first = true;
	measurement.progress = PROGRESS_ARMED;
	is_between = options.between;
	if (is_between)
		measurement_begin(linear);
}

static void set_words(void)
{
	uint32_t one = 1;

	for (unsigned i = 0; i < options.sets; i++)
		cpu_physical_memory_rw(options.set[i], &one, sizeof(one), true);
}

/* What was begun already is no part of the series. */
static void begin(uint64_t linear)
{
	set_words();
	if (options.between && has_first && measurement.progress == PROGRESS_ON) {
		is_between = true;
		measurement_end(linear);
		write_in_series();
	}
	is_between = false;
	measurement_begin(linear);
}

static void end_all(uint64_t linear)
{
	if (!has_first || measurement.progress != PROGRESS_ON)
		return;
	measurement_end(linear);
	write_as("last");
}

static void end(uint64_t linear)
{
	if (measurement.progress != PROGRESS_ON || is_between)
		return;
	measurement_end(linear);
	if (options.series) {
		end_in_series(linear);
		return;
	}
	check(report_write(options.output));
	if (options.stop)
		vm_stop(QEMU_PAUSED);
	control_tell_end();
}

static void on_delivery(enum delivery what, uint32_t from_ring)
{
	turn_take(options.vcpu);
	if (options.cache && what == DELIVERY_HARDWARE)
		cache_settle();
	if (options.cache && what == DELIVERY_EXCEPTION)
		cache_forget();
	measurement_deliver(what, from_ring);
	if (options.nanoseconds && measurement.progress == PROGRESS_ON &&
	    (uint64_t)(measurement.clock_ended - measurement.clock_begun) >= options.nanoseconds)
		end(cpu_linear());
}

/* data: the address that the block was translated for. It lies on a page of the same contents. */
static void on_block(unsigned vcpu, void *data)
{
	uint64_t linear;

	if (!turn_take(vcpu) || measurement.progress == PROGRESS_IDLE ||
	    measurement.progress == PROGRESS_ENDED)
		return;
	linear = cpu_linear();
	block_begin = linear;
	if (options.cache)
		cache_settle();
	measurement.mistaken += ((linear ^ (uintptr_t)data) & 0xfff) != 0;
	measurement_sample(linear);
}

/* Behind a CLI, which does not end a block. data: bytes from the beginning of the block. */
static void on_unblocked(unsigned vcpu, void *data)
{
	if (vcpu == options.vcpu)
		measurement_sample(block_begin + (uint32_t)(uintptr_t)data);
}

static void on_fetch(unsigned vcpu, void *data)
{
	(void)vcpu;
	if (measurement.progress == PROGRESS_ON)
		cache_fetch(block_begin + (uint32_t)(uintptr_t)data);
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t linear, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	if (measurement.progress == PROGRESS_ON)
		cache_access(linear);
}

static void on_emptying(unsigned vcpu, void *data)
{
	(void)vcpu;
	cache_expect(data);
}

static void *point_pack(enum point point, unsigned index, uint32_t offset)
{
	return (void *)((uintptr_t)point << 56 | (uintptr_t)index << 48 | offset);
}

/* The block may have been translated for another address of the same page. */
static void on_point(unsigned vcpu, void *data)
{
	uintptr_t packed = (uintptr_t)data;
	uint64_t linear = block_begin + (uint32_t)packed;
	struct interval *interval = &intervals[packed >> 48 & 0xff];

	if (vcpu != options.vcpu)
		return;
	switch ((enum point)(packed >> 56)) {
	case POINT_BEGIN:
		if ((measurement.progress == PROGRESS_ARMED || options.series) &&
		    measurement.progress != PROGRESS_ENDED && linear == options.begin)
			begin(linear);
		break;
	case POINT_END:
		if (linear == options.end)
			end(linear);
		break;
	case POINT_LAST:
		if (linear == options.last)
			end_all(linear);
		break;
	case POINT_FROM:
		if (linear == interval->from)
			interval_reach(interval, false);
		break;
	case POINT_TO:
		if (linear == interval->to)
			interval_reach(interval, true);
		break;
	}
}

static bool may_be(uint64_t linear, uint64_t wanted)
{
	return ((linear ^ wanted) & 0xfff) == 0;
}

static void instrument_points(struct qemu_plugin_insn *instruction, uint64_t linear,
			      uint32_t offset)
{
	struct {
		bool wanted;
		enum point point;
		unsigned index;
	} points[3 + 2 * INTERVALS] = {
		{ options.has_begin && may_be(linear, options.begin), POINT_BEGIN, 0 },
		{ options.has_end && may_be(linear, options.end), POINT_END, 0 },
		{ options.between && may_be(linear, options.last), POINT_LAST, 0 },
	};

	for (unsigned i = 0; i < options.intervals; i++) {
		points[3 + 2 * i].wanted = may_be(linear, intervals[i].to);
		points[3 + 2 * i].point = POINT_TO;
		points[3 + 2 * i].index = i;
		points[4 + 2 * i].wanted = may_be(linear, intervals[i].from);
		points[4 + 2 * i].point = POINT_FROM;
		points[4 + 2 * i].index = i;
	}
	for (unsigned i = 0; i < 3 + 2 * options.intervals; i++)
		if (points[i].wanted)
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, on_point, QEMU_CALLBACK_NO_REGISTERS,
				point_pack(points[i].point, points[i].index, offset));
}

static enum event instrument_event(struct qemu_plugin_insn *instruction)
{
	/* A block is translated for the ring and the mode that it is to run in, and runs in no
	 * other. */
	const uint32_t *hflags = cpu_current_hflags();

	if (!hflags)
		fail("it cannot be told which CPU it is that has its turn");
	enum event event = decode(qemu_plugin_insn_data(instruction),
				  qemu_plugin_insn_size(instruction), *hflags & HFLAGS_CODE64);

	if (event != EVENT_NONE)
		qemu_plugin_register_vcpu_insn_exec_inline(
			instruction, QEMU_INLINE_ADD, &events[*hflags & HFLAGS_RING][event], 1);
	return event;
}

/* The bytes of an instruction, for as long as its translation may last: for ever. There are few
 * of the kind. */
static uint8_t *instruction_keep(struct qemu_plugin_insn *instruction)
{
	size_t size = qemu_plugin_insn_size(instruction);
	uint8_t *bytes = calloc(1, INSTRUCTION_SIZE);

	if (!bytes)
		fail("there is no memory");
	memcpy(bytes, qemu_plugin_insn_data(instruction),
	       size < INSTRUCTION_SIZE ? size : INSTRUCTION_SIZE);
	return bytes;
}

/* line: where the line begins that the instruction before is in, which has been fetched. */
static void instrument_cache(struct qemu_plugin_insn *instruction, uint64_t linear,
			     uint32_t offset, uint64_t line)
{
	enum event event = decode(qemu_plugin_insn_data(instruction),
				  qemu_plugin_insn_size(instruction), cpu_code64());

	if (linear / CACHE_LINE * CACHE_LINE != line)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_fetch,
						       QEMU_CALLBACK_NO_REGISTERS,
						       (void *)(uintptr_t)offset);
	if (event == EVENT_CR3_LOAD || event == EVENT_INVLPG)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_emptying,
						       QEMU_CALLBACK_NO_REGISTERS,
						       instruction_keep(instruction));
	qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_CALLBACK_NO_REGISTERS,
					 QEMU_MEMORY_READ_WRITE, NULL);
}

/* On each instruction the calls come first and then what is added: they see what is before it. */
static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
	uint64_t first = qemu_plugin_tb_vaddr(block);
	enum event previous = EVENT_NONE;
	uint64_t line = 1; /* none begins there */

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_CALLBACK_NO_REGISTERS,
					     (void *)(uintptr_t)first);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint64_t linear = qemu_plugin_insn_vaddr(instruction);
		uint32_t offset = (uint32_t)(linear - first);

		if (previous == EVENT_CLI)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_unblocked,
							       QEMU_CALLBACK_NO_REGISTERS,
							       (void *)(uintptr_t)offset);
		instrument_points(instruction, linear, offset);
		if (options.cache)
			instrument_cache(instruction, linear, offset, line);
		line = linear / CACHE_LINE * CACHE_LINE;
		qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_INLINE_ADD,
							   &instructions, 1);
		previous = instrument_event(instruction);
	}
}

static void on_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	if (vcpu != options.vcpu)
		return;
	check(cpu_find((int)vcpu, word, on_delivery));
	check(cpu_verify());
	if (options.cache)
		check(cache_start());
	if (!options.control)
		measurement.progress = options.has_begin ? PROGRESS_ARMED : PROGRESS_ON;
	if (measurement.progress == PROGRESS_ON)
		measurement_begin(cpu_linear());
}

/* Called with the machine stopped. */
static const char *on_command(const char *line)
{
	const char *wrong = cpu_verify();

	turn_take_back();
	if (wrong)
		return wrong;
	if (strcmp(line, "begin") == 0) {
		if (options.has_begin)
			measurement.progress = PROGRESS_ARMED;
		else
			begin(cpu_linear());
		return NULL;
	}
	if (strcmp(line, "end") == 0) {
		if (measurement.progress == PROGRESS_ON) {
			measurement_end(cpu_linear());
			return report_write(options.output);
		}
		return measurement.progress == PROGRESS_ENDED ? NULL : "nothing has begun";
	}
	return "commands are begin and end";
}

static void on_exit_of_qemu(qemu_plugin_id id, void *unused)
{
	(void)id;
	(void)unused;
	if (measurement.progress == PROGRESS_ENDED || options.series)
		return;
	turn_take_back();
	if (measurement.progress == PROGRESS_ON)
		measurement_end(cpu_linear());
	check(report_write(options.output));
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	word = strcmp(info->target, "x86_64") == 0 ? 8 : strcmp(info->target, "i386") == 0 ? 4 : 0;
	if (!info->is_system || !word)
		fail("this is for qemu-system-i386 and qemu-system-x86_64");
	options_read(count, arguments);
	if (info->vcpus != 1 && !options.has_vcpu)
		fail("of several CPUs vcpu= is to say which is measured");
	if ((int)options.vcpu >= info->vcpus)
		fail("there is no such CPU as vcpu= says");
	check(measurement_prepare());
	if (options.control)
		check(control_open(options.control, on_command));
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
