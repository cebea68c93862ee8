/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the shadows of a Linux's vCPUs right without stopping any of them. Each core has a log of
 * what its vCPUs have flushed. Linux itself interrupts those of its CPUs that use the address space
 * now; they then load CR3 or execute INVLPG, which the VMM emulates, and before it emulates
 * anything it follows the logs. A CPU that does not use the space learns of the flush when it next
 * loads CR3, by the same rule.
 *
 * The shadow that a vCPU has left behind on another core has missed too much to follow it flush by
 * flush when the vCPU comes back, and so has one whose siblings have flushed more than a log holds.
 * Then an epoch ends there. A core also notes when it has last flushed a directory, or one of its
 * class. So a space of an older epoch is kept if it was not flushed since, and emptied otherwise,
 * when it is loaded: that costs a look at each core's note, however much was flushed.
 */
#include "guests/x86/smp/smp.h"
#include "lib/string.h"
#include "masked_state.h"
#include "views.h"

/* Directories of one class are taken for one where it is asked when they were flushed. */
static u32 flush_class(u32 directory)
{
	return (directory >> PAGE_SHIFT) % FLUSH_CLASSES;
}

void flush_log_add(struct x86 *x86, u32 directory, u32 start, u32 end)
{
	volatile struct smp_page *page = flush_log_of(core.index);
	volatile struct flush *flush = &page->flushes[page->flush_count % FLUSH_LOG];
	u32 *followed = &x86->smp->followed[core.index];

	EXPECTS_UNMASKED(x86->vcpu);
	flush->directory = directory;
	flush->start = start;
	flush->end = end;
	page->last[flush_class(directory)] = page->flush_count + 1;
	*followed += *followed == page->flush_count; /* it does its own at once */
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

/* Follows what a sibling has flushed by now. Returns false if the log has gone beyond that. */
MUST_CHECK static bool log_follow(struct x86 *x86, u32 from)
{
	volatile struct smp_page *page = flush_log_of(from);
	u32 *followed = &x86->smp->followed[from];

	for (u32 count = page->flush_count; *followed != count; ++*followed)
		if (!flush_follow(x86, page, *followed))
			return false;
	return true;
}

void flush_log_renew(const struct x86 *x86, struct space *space)
{
	const struct smp *smp = x86->smp;
	const u32 *right = smp->ended[space->epoch % EPOCHS];
	bool stale = smp->epoch - space->epoch > EPOCHS;

	for (u32 rest = smp->cpus; rest != 0; rest &= rest - 1) {
		u32 from = (u32)__builtin_ctz(rest);
		u32 last = flush_log_of(from)->last[flush_class(space->guest)];

		stale |= (s32)(last - right[from]) > 0;
	}
	space->epoch = smp->epoch;
	if (stale)
		space_drop(space, NULL);
}

void flush_log_skip(struct x86 *x86)
{
	struct smp *smp = x86->smp;

	memcpy(smp->ended[smp->epoch++ % EPOCHS], smp->followed, sizeof(smp->followed));
	flush_log_begin(x86);
}

/* The log of a sibling has gone too far. The kernel's half stays: no log is about it. */
static void flushes_are_lost(struct x86 *x86)
{
	flush_log_skip(x86);
	if (x86->shadow.current == NULL)
		return;
	flush_log_renew(x86, x86->shadow.current);
	views_flush();
}

/*
 * A flush that must be followed now is in its log before this begins: the interrupt that tells of
 * it comes behind it. Those that are added meanwhile are left for the next call. Otherwise a
 * sibling that flushes without end would keep the VMM at work for this vCPU, which then could not
 * be stopped, and the idle vCPU of this core would wait for it. For the same reason all is
 * forgotten once at most, for the logs of all siblings.
 */
void flush_log_follow(struct x86 *x86)
{
	for (u32 rest = x86->smp->cpus; rest != 0; rest &= rest - 1)
		if (!log_follow(x86, (u32)__builtin_ctz(rest))) {
			flushes_are_lost(x86);
			return;
		}
}

void flush_log_kernel(struct x86 *x86, u32 linear)
{
	struct kernel_flushes *kernel = &x86->smp->kernel;

	kernel->pages[kernel->count++ % KERNEL_FLUSHES] = linear;
}

void flush_log_begin(struct x86 *x86)
{
	for (u32 rest = x86->smp->cpus; rest != 0; rest &= rest - 1)
		x86->smp->followed[__builtin_ctz(rest)] =
			flush_log_of((u32)__builtin_ctz(rest))->flush_count;
}
