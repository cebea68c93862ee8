/* SPDX-License-Identifier: Apache-2.0 */
/* Masked windows of the VMM by their beginnings. */
#include "section.h"

#include "options.h"

/* Whether the code segment that is about to be interrupted is an RTOS's. */
static bool is_rtos;

/* Where the VMM alone is privileged, its segments have all addresses, and no other guest's have. */
void section_expect(void)
{
	is_rtos = cpu_ring() != 0 && ((uint32_t)cpu_word(cpu.cs_base) >= options.rtos ||
				      *cpu.cs_limit == UINT32_MAX);
}

struct arrival section_arrival(enum delivery what, uint32_t from_ring)
{
	return (struct arrival){ .what = what, .ring = from_ring, .rtos = is_rtos };
}

static bool same(const struct section *section, const struct windows *windows)
{
	const struct arrival *a = &section->arrival, *b = &windows->arrival;

	return section->begin == windows->begin && a->what == b->what && a->ring == b->ring &&
	       a->rtos == b->rtos;
}

/* There are some dozens, and one is looked for at the end of each window: those that come often
 * come early. */
static struct section *section_find(const struct windows *windows)
{
	for (unsigned i = 0; i < measurement.section_count; i++)
		if (same(&measurement.sections[i], windows))
			return &measurement.sections[i];
	if (measurement.section_count == SECTIONS) {
		measurement.sections_lost++;
		return NULL;
	}
	measurement.sections[measurement.section_count] =
		(struct section){ .begin = windows->begin, .arrival = windows->arrival };
	return &measurement.sections[measurement.section_count++];
}

struct window *section_count(const struct windows *windows, uint64_t length)
{
	struct section *section;

	if (!options.rtos || windows != &measurement.vmm || windows->headless)
		return NULL;
	section = section_find(windows);
	if (!section)
		return NULL;
	section->count++;
	section->total += length;
	return length > section->window.instructions ? &section->window : NULL;
}
