/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a vCPU that is too far behind its siblings' flushes has in its TLB, where the VMM alone is
 * privileged: a load of CR3 leaves what is global. test_flush_log.c has the logs themselves.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"

#include "guests/x86/smp/smp.h"
#include "siblings.h"
#include "views.h"

#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct view_switch view_switch;

static struct vcpu vcpu;
static struct smp smp;
static struct space space;
static struct x86 x86 = { .vcpu = &vcpu, .smp = &smp, .siblings = true };
static unsigned drops, forgets;

/* Own stand-ins: no flush is followed, and a space that is dropped is counted, as is what empties
 * the TLB of all and of all that is not global. */
void shadow_flush(struct x86 *which, u32 directory, u32 start, u32 end)
{
	(void)which;
	(void)directory;
	(void)start;
	(void)end;
	fail();
}

void space_drop(struct space *which, struct x86 *points)
{
	(void)points;
	assert_ptr_equal(which, &space);
	drops++;
}

void processor_set_cr3(u32 value)
{
	processor.cr3 = value;
	forgets |= 1;
}

void processor_set_cr4(u32 value)
{
	if ((processor.cr4 & CR4_PGE) != 0 && (value & CR4_PGE) == 0)
		forgets |= 2;
	processor.cr4 = value;
}

/* The sibling on core 4 has flushed more than its log holds. Returns what has been emptied. */
static unsigned behind(void)
{
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(&smp, 0, sizeof(smp));
	smp.cpus = 1u << 1 | 1u << 4;
	x86.shadow.current = &space;
	drops = forgets = 0;
	processor.cr4 = CR4_PGE;
	core.index = 4;
	for (u32 i = 0; i <= FLUSH_LOG; i++)
		flush_log_add(&x86, 0, 0, PAGE_SIZE);
	memset(smp.followed, 0, sizeof(smp.followed));
	core.index = 1;
	flush_log_follow(&x86);
	assert_int_equal(drops, 1);
	return forgets;
}

static void global_pages_are_forgotten_with_all(void **state)
{
	(void)state;
	view_switch.global = PTE_G / PTE_U;
	assert_int_equal(behind() & 2, 2);
}

static void without_them_a_load_of_cr3_is_enough(void **state)
{
	(void)state;
	view_switch.global = 0;
	assert_int_equal(behind(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global_pages_are_forgotten_with_all),
		cmocka_unit_test(without_them_a_load_of_cr3_is_enough),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
