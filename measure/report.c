/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what was measured. Addresses are linear and decimal, as JSON has no other numbers. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "history.h"
#include "measurement.h"
#include "options.h"

#define FORMAT 2

static const char *const event_names[EVENT_COUNT] = {
	[EVENT_CR0_LOAD] = "cr0_load",	 [EVENT_CR3_LOAD] = "cr3_load",
	[EVENT_CR4_LOAD] = "cr4_load",	 [EVENT_INVLPG] = "invlpg",
	[EVENT_IRET] = "iret",		 [EVENT_SEGMENT_LOAD] = "segment_load",
	[EVENT_INT] = "int",		 [EVENT_FAR_TRANSFER] = "far_transfer",
	[EVENT_SYSCALL] = "syscall",	 [EVENT_SYSRET] = "sysret",
	[EVENT_SWAPGS] = "swapgs",	 [EVENT_TABLE_LOAD] = "table_load",
	[EVENT_PORT] = "port",		 [EVENT_HLT] = "hlt",
	[EVENT_CLI] = "cli",		 [EVENT_STI] = "sti",
	[EVENT_L1I_MISS] = "l1i_miss",	 [EVENT_L1D_MISS] = "l1d_miss",
	[EVENT_ITLB_MISS] = "itlb_miss", [EVENT_DTLB_MISS] = "dtlb_miss",
	[EVENT_PAGE_WALK] = "page_walk",
};

static void write_numbers(FILE *file, const uint64_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fprintf(file, "%s%" PRIu64, i ? "," : "[", numbers[i]);
	fputc(']', file);
}

static void write_truth(FILE *file, const char *name, bool value)
{
	fprintf(file, ",\"%s\":%s", name, value ? "true" : "false");
}

static void write_states(FILE *file)
{
	fputs("\"states\":[", file);
	for (unsigned i = 0; i < STATES; i++) {
		fprintf(file, "%s{\"ring\":%u", i ? ",\n" : "\n", i & (RINGS - 1));
		write_truth(file, "masked", i & STATE_MASKED);
		write_truth(file, "vmm", i & STATE_VMM);
		write_truth(file, "guest", i & STATE_GUEST);
		fprintf(file, ",\"instructions\":%" PRIu64 "}", measurement.executed[i]);
	}
	fputs("],\n\"crossings\":[", file);
	for (unsigned ring = 0; ring < RINGS; ring++) {
		fputs(ring ? "," : "", file);
		write_numbers(file, measurement.crossings[ring], RINGS);
	}
	fputs("],\n", file);
}

static int compare_windows(const void *a, const void *b)
{
	const struct window *first = a, *second = b;

	if (first->instructions != second->instructions)
		return first->instructions < second->instructions ? 1 : -1;
	return first->at < second->at ? -1 : first->at > second->at;
}

static void write_blocks(FILE *file, const struct block *blocks, unsigned count)
{
	const char *comma = "[";

	for (unsigned i = 0; i < count; i++) {
		if (!blocks[i].linear)
			continue;
		fprintf(file, "%s{\"linear\":%" PRIu64 ",\"instructions\":%" PRIu64 "}", comma,
			blocks[i].linear, blocks[i].instructions);
		comma = ",";
	}
	fputs(*comma == '[' ? "[]" : "]", file);
}

static void write_window(FILE *file, const struct window *window)
{
	fprintf(file, "{\"instructions\":%" PRIu64 ",\"at\":%" PRIu64, window->instructions,
		window->at);
	fprintf(file, ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64, window->begin, window->end);
	fprintf(file, ",\"last\":%" PRIu64 ",\"blocks\":", window->last);
	write_blocks(file, window->block, window->blocks);
	fputc('}', file);
}

static void write_windows(FILE *file, const char *name, struct windows *windows)
{
	fprintf(file, "\"%s\":{\"count\":%" PRIu64 ",\"total\":%" PRIu64 ",\"cut\":%" PRIu64, name,
		windows->count, windows->total, windows->cut);
	fputs(",\"lengths\":", file);
	write_numbers(file, windows->lengths, LENGTHS);
	qsort(windows->longest, windows->kept, sizeof(struct window), compare_windows);
	fputs(",\n\"longest\":[", file);
	for (unsigned i = 0; i < windows->kept; i++) {
		fputs(i ? ",\n" : "\n", file);
		write_window(file, &windows->longest[i]);
	}
	fputs("]},\n", file);
}

/* Those that are left, the oldest first, and since when none is missing. */
static void write_recorded(FILE *file)
{
	uint64_t end = measurement.recorded_count;
	uint64_t first = end > RECORDED ? end - RECORDED : 0;
	uint64_t since = first ? recorded[first % RECORDED].clock :
				 measurement.recorded_since;

	fprintf(file, "\"recorded_since\":%" PRIu64 ",\n\"recorded\":[", since);
	for (uint64_t i = first; i < end; i++) {
		const struct recorded *at = &recorded[i % RECORDED];

		fprintf(file, "%s{\"clock\":%" PRIu64 ",\"instructions\":%" PRIu64,
			i > first ? ",\n" : "\n", at->clock, at->instructions);
		fprintf(file, ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 "}", at->begin, at->end);
	}
	fputs("],\n", file);
}

static void write_sections(FILE *file)
{
	fprintf(file, "\"sections_lost\":%" PRIu64 ",\n\"sections\":[", measurement.sections_lost);
	for (unsigned i = 0; i < measurement.section_count; i++) {
		const struct section *at = &measurement.sections[i];

		fprintf(file, "%s\n{\"begin\":%" PRIu64 ",\"ring\":%u", i ? "," : "", at->begin,
			at->arrival.ring);
		write_truth(file, "delivered", at->arrival.what != DELIVERY_NONE);
		write_truth(file, "hardware", at->arrival.what == DELIVERY_HARDWARE);
		write_truth(file, "rtos", at->arrival.rtos);
		fprintf(file, ",\"count\":%" PRIu64 ",\"total\":%" PRIu64 ",\"window\":",
			at->count, at->total);
		write_window(file, &at->window);
		fputc('}', file);
	}
	fputs("],\n", file);
}

static void write_handlers(FILE *file)
{
	const char *comma = "";

	fputs("\"handlers\":[", file);
	for (unsigned i = 0; i < HANDLERS; i++) {
		const struct handler *at = &measurement.handlers[i];

		if (!at->linear)
			continue;
		fprintf(file, "%s\n{\"linear\":%" PRIu64 ",\"ring\":%u", comma, at->linear,
			at->ring);
		fprintf(file, ",\"exceptions\":%" PRIu64, at->exceptions);
		fprintf(file, ",\"hardware\":%" PRIu64 ",\"from_rings\":", at->hardware);
		write_numbers(file, at->from, RINGS);
		fprintf(file, ",\"from_guest\":%" PRIu64, at->from_guest);
		fprintf(file, ",\"stays\":%" PRIu64 ",\"instructions\":%" PRIu64, at->stays,
			at->instructions);
		fprintf(file, ",\"masked\":%" PRIu64 ",\"longest\":%" PRIu64 ",\"window\":",
			at->masked, at->longest);
		write_window(file, &at->window);
		fputc('}', file);
		comma = ",";
	}
	fputs("],\n", file);
}

static void write_events(FILE *file)
{
	fputs("\"events\":{", file);
	for (unsigned i = EVENT_NONE + 1; i < EVENT_COUNT; i++) {
		uint64_t rings[RINGS];

		for (unsigned ring = 0; ring < RINGS; ring++)
			rings[ring] = measurement.events[ring][i];
		fprintf(file, "%s\"%s\":", i > EVENT_NONE + 1 ? "," : "", event_names[i]);
		write_numbers(file, rings, RINGS);
	}
	fputs("},\n", file);
}

static int compare_samples(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

/* The smallest value that at least so many of 1000 samples do not exceed. */
static uint32_t interval_quantile(const struct interval *interval, unsigned share)
{
	uint64_t kept = interval->count < SAMPLES ? interval->count : SAMPLES;

	if (!kept)
		return 0;
	qsort(interval->sample, kept, sizeof(*interval->sample), compare_samples);
	return interval->sample[(kept * share + 999) / 1000 - 1];
}

/* How often each length came, of those that are kept. They are in order: interval_quantile(). */
static void write_samples(FILE *file, const struct interval *interval)
{
	uint64_t kept = interval->count < SAMPLES ? interval->count : SAMPLES;
	const char *comma = ",\"samples\":[";

	for (uint64_t i = 0, next; i < kept; i = next) {
		for (next = i; next < kept && interval->sample[next] == interval->sample[i];)
			next++;
		fprintf(file, "%s[%u,%" PRIu64 "]", comma, interval->sample[i], next - i);
		comma = ",";
	}
	fputs(kept ? "]" : ",\"samples\":[]", file);
}

static void write_intervals(FILE *file)
{
	fputs("\"intervals\":[", file);
	for (unsigned i = 0; i < options.intervals; i++) {
		const struct interval *at = &intervals[i];

		fprintf(file, "%s\n{\"from\":%" PRIu64 ",\"to\":%" PRIu64, i ? "," : "", at->from,
			at->to);
		fprintf(file, ",\"count\":%" PRIu64, at->count);
		fprintf(file, ",\"repeated\":%" PRIu64 ",\"minimum\":%" PRIu64, at->repeated,
			at->minimum);
		fprintf(file, ",\"mean\":%.2f,\"median\":%u,\"p999\":%u",
			at->count ? (double)at->total / (double)at->count : 0.,
			interval_quantile(at, 500), interval_quantile(at, 999));
		fprintf(file, ",\"maximum\":%" PRIu64, at->maximum);
		if (options.samples)
			write_samples(file, at);
		fputc('}', file);
	}
	fputs("],\n", file);
}

static void write_outlier(FILE *file, const struct outlier *at, const uint8_t *ring)
{
	fprintf(file, "{\"end\":%" PRIu64 ",\"length\":%" PRIu64 ",\"expiry\":%" PRIu64, at->end,
		at->length, at->expiry);
	fputs(",\"ring\":\"", file);
	for (uint64_t i = 0; ring && i < options.ring_size; i++)
		fprintf(file, "%02x", ring[i]);
	fputs("\"}", file);
}

static void write_outliers(FILE *file)
{
	uint64_t kept = measurement.outlier_count < OUTLIERS ? measurement.outlier_count : OUTLIERS;

	fprintf(file, "\"outlier_count\":%" PRIu64 ",\n\"longest\":", measurement.outlier_count);
	write_outlier(file, &measurement.longest, longest_ring());
	fputs(",\n\"outliers\":[", file);
	for (unsigned i = 0; i < kept; i++) {
		fputs(i ? ",\n" : "\n", file);
		write_outlier(file, &measurement.outliers[i], outlier_ring(i));
	}
	fputs("],\n", file);
}

static void write_all(FILE *file)
{
	fprintf(file, "{\"format\":%d,\"begun\":%s,\n", FORMAT,
		measurement.progress == PROGRESS_ENDED ? "true" : "false");
	write_states(file);
	write_windows(file, "windows", &measurement.all);
	write_windows(file, "vmm_windows", &measurement.vmm);
	if (options.record)
		write_recorded(file);
	if (options.history)
		fprintf(file, "\"history_lost\":%" PRIu64 ",\n", history_lost());
	if (options.rtos)
		write_sections(file);
	write_handlers(file);
	fputs("\"profile\":", file);
	write_blocks(file, measurement.profile, PROFILE);
	fputs(",\n", file);
	write_events(file);
	write_intervals(file);
	if (options.period)
		write_outliers(file);
	fprintf(file, "\"instructions\":%" PRIu64 ",\"mistaken\":%" PRIu64,
		measurement.ended - measurement.begun, measurement.mistaken);
	fprintf(file, ",\"nanoseconds\":%" PRId64 "}\n",
		measurement.clock_ended - measurement.clock_begun);
}

const char *report_write(const char *path)
{
	char scratch[4096];
	FILE *file;

	if (!path)
		return NULL;
	if (snprintf(scratch, sizeof(scratch), "%s.part", path) >= (int)sizeof(scratch))
		return "the name of the output file is too long";
	file = fopen(scratch, "w");
	if (!file)
		return "the output file cannot be made";
	write_all(file);
	if (fclose(file) != 0 || rename(scratch, path) != 0)
		return "the output file cannot be written";
	return NULL;
}
