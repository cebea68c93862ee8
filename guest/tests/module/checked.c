// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that was built outside of Linux's source. Its code has Linux's inline functions, our
 * lines of the patch among them, and lies where the kernel has mapped it late: so it checks that
 * interrupts are kept from it and let in, that a timer and a thread run, and that its own text
 * cannot be written to.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define PATIENCE (5 * HZ)
#define AREA (64 * PAGE_SIZE)

static DEFINE_SPINLOCK(lock);
static DECLARE_COMPLETION(timer_done);
static DECLARE_COMPLETION(thread_done);

static int addend = 1;
module_param(addend, int, 0);
MODULE_PARM_DESC(addend, "what a thread adds to 41");

static void timer_fires(struct timer_list *timer)
{
	complete(&timer_done);
}
static DEFINE_TIMER(timer, timer_fires);

static int thread_runs(void *sum)
{
	*(int *)sum = 41 + addend;
	complete(&thread_done);
	return 0;
}

/* No tick is seen while interrupts are disabled, however long that is; one is behind it. */
static bool interrupts_wait(void)
{
	unsigned long flags, before, during;
	unsigned int i;

	spin_lock_irqsave(&lock, flags);
	before = jiffies;
	for (i = 0; i < 100 * 1000 * 1000 / HZ; i++)
		barrier();
	during = jiffies;
	spin_unlock_irqrestore(&lock, flags);
	mod_timer(&timer, jiffies + 2);
	return irqs_disabled_flags(flags) == 0 && before == during &&
	       wait_for_completion_timeout(&timer_done, PATIENCE) != 0;
}

static bool thread_adds(void)
{
	int sum = 0;

	if (IS_ERR(kthread_run(thread_runs, &sum, "checked")))
		return false;
	return wait_for_completion_timeout(&thread_done, PATIENCE) != 0 && sum == 42;
}

static bool memory_keeps(void)
{
	u8 *area = vmalloc(AREA);
	unsigned long i, wrong = 0;

	if (!area)
		return false;
	for (i = 0; i < AREA; i++)
		area[i] = (u8)(i ^ i >> 8);
	for (i = 0; i < AREA; i++)
		wrong += area[i] != (u8)(i ^ i >> 8);
	vfree(area);
	return wrong == 0;
}

static bool text_is_read_only(void)
{
	u8 *text = (u8 *)text_is_read_only;
	u8 byte = READ_ONCE(*text);

	pagefault_disable();
	__put_kernel_nofault(text, &byte, u8, refused);
	pagefault_enable();
	return false;
refused:
	pagefault_enable();
	return true;
}

static int __init checked_init(void)
{
	if (!interrupts_wait())
		pr_err("checked: FAILED: interrupts\n");
	else if (!thread_adds())
		pr_err("checked: FAILED: thread\n");
	else if (!memory_keeps())
		pr_err("checked: FAILED: memory\n");
	else if (!text_is_read_only())
		pr_err("checked: FAILED: text\n");
	else
		pr_info("checked: passed\n");
	return 0;
}
module_init(checked_init);

static void __exit checked_exit(void)
{
	del_timer_sync(&timer);
	pr_info("checked: gone\n");
}
module_exit(checked_exit);

MODULE_DESCRIPTION("Checks itself in the kernel of a guest");
MODULE_LICENSE("GPL");
