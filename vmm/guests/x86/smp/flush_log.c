/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the shadows of a Linux's vCPUs right without stopping any of them. Each vCPU has a log of
 * what it has flushed. Linux itself interrupts those of its CPUs that use the address space now;
 * they then load CR3 or execute INVLPG, which the VMM emulates, and before it emulates
 * anything it follows the logs. A CPU that does not use the space learns of the flush when it next
 * loads CR3, by the same rule.
 */
#include "guests/x86/smp/smp.h"
#include "masked_state.h"

void flush_log_add(struct x86 *x86, u32 directory, u32 start, u32 end)
{
	volatile struct smp_page *page = smp_own_page(x86);
	volatile struct flush *flush = &page->flushes[page->flush_count % FLUSH_LOG];

	EXPECTS_OPEN(x86->vcpu);
	flush->directory = directory;
	flush->start = start;
	flush->end = end;
	page->flush_count++;
}

/* Follows one flush. Returns false if the log has gone beyond it. */
MUST_CHECK static bool flush_follow(struct x86 *x86, volatile struct smp_page *page, u32 number)
{
	volatile struct flush *flush = &page->flushes[number % FLUSH_LOG];
	u32 directory = flush->directory, start = flush->start, end = flush->end;

	if (page->flush_count - number >= FLUSH_LOG)
		return false;
	shadow_flush(x86, directory, start, end);
	return true;
}

static void log_follow(struct x86 *x86, u32 from)
{
	volatile struct smp_page *page = smp_page_of(x86->vm->guest, from);
	u32 *followed = &x86->smp->followed[from];

	while (*followed != page->flush_count) {
		if (!flush_follow(x86, page, *followed)) {
			*followed = page->flush_count;
			shadow_forget(x86);
		} else {
			++*followed;
		}
	}
}

void flush_log_follow(struct x86 *x86)
{
	const struct gandalf_guest *guest = x86->vm->guest;

	for (u32 i = 0; i < guest->vcpu_count; i++)
		if (i != x86->smp->id)
			log_follow(x86, i);
}

void flush_log_begin(struct x86 *x86)
{
	const struct gandalf_guest *guest = x86->vm->guest;

	for (u32 i = 0; i < guest->vcpu_count; i++)
		x86->smp->followed[i] = smp_page_of(guest, i)->flush_count;
}
