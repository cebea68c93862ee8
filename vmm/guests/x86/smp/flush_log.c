/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the shadows of a Linux's vCPUs right without stopping any of them. Each core has a log of
 * what its vCPUs have flushed. Linux itself interrupts those of its CPUs that use the address space
 * now; they then load CR3 or execute INVLPG, which the VMM emulates, and before it emulates
 * anything it follows the logs. A CPU that does not use the space learns of the flush when it next
 * loads CR3, by the same rule. So does the shadow that a vCPU has left behind on another core, when
 * the vCPU comes back.
 */
#include "guests/x86/shadow/tlb.h"
#include "guests/x86/smp/smp.h"
#include "masked_state.h"
#include "siblings.h"

void flush_log_add(struct x86 *x86, u32 directory, u32 start, u32 end)
{
	volatile struct smp_page *page = flush_log_of(core.index);
	volatile struct flush *flush = &page->flushes[page->flush_count % FLUSH_LOG];
	u32 *followed = &x86->smp->followed[core.index];

	EXPECTS_OPEN(x86->vcpu);
	flush->directory = directory;
	flush->start = start;
	flush->end = end;
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

/* Has all spaces be emptied: the present one now, and others when they are loaded, so that this
 * takes no longer than the present one does. The kernel's half stays: no log is about it. */
static void spaces_forget(struct x86 *x86)
{
	struct space *current = x86->shadow.current;

	x86->smp->epoch++;
	if (current == NULL)
		return;
	space_is_found(x86, current);
	tlb_flush();
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
			flush_log_begin(x86);
			spaces_forget(x86);
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
