// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CMOS clock's periodic interrupt, 1024 times a second, for `gandalf bench`. Each read() of
 * /dev/gandalf-rtc waits for the next interrupt and gives the low half of the time stamp with which
 * its handler began. Every kernel of ours has this driver built in, because Linux's own makes
 * periodic interrupts out of a timer. Debian's 64-bit kernel gets it as a module
 * (tools/gandalf/bench/amd64_driver.py).
 *
 * One process has it open. Until it closes it, the interrupt line is ours, which belongs to
 * rtc_cmos otherwise. If a virtual clock has no other interrupts meanwhile, they acknowledge
 * themselves, which saves two entries into the VMM for each.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/mc146818rtc.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <asm/msr.h>

#ifdef MODULE
#define GANDALF_RTC_AUTOMATIC 0 /* there is no virtual clock */
#else
#include "on_gandalf.h"
#endif

#define LINE 8
/* The interrupts come with 32,768 Hz divided by 2^(RATE - 1). */
#define RATE 6

static DECLARE_WAIT_QUEUE_HEAD(readers);
static unsigned long opened;		/* bit 0 is set while a process has it open */
static u32 interrupts, stamp;		/* written by the handler */
static struct irqaction lender;		/* whose the line is while nobody reads */
static bool virtual;			/* the clock is the VMM's; never changes */
static bool automatic;			/* its interrupts acknowledge themselves */

static irqreturn_t rtc_interrupt(int line, void *unused)
{
	u32 now = (u32)rdtsc();

	/* A real clock does not interrupt again before register C has been read. */
	if (!automatic && !(CMOS_READ(RTC_INTR_FLAGS) & RTC_PF))
		return IRQ_NONE;
	stamp = now;
	WRITE_ONCE(interrupts, interrupts + 1);
	wake_up_interruptible(&readers);
	return IRQ_HANDLED;
}

#ifdef MODULE
/* Returns NULL, since no module can look. Whoever loads it has taken the line from rtc_cmos
 * before. */
static struct irqaction *line_action(void)
{
	return NULL;
}

/* Returns false, since Debian's kernel knows no Gandalf. */
static bool clock_is_virtual(void)
{
	return false;
}
#else
static struct irqaction *line_action(void)
{
	return irq_to_desc(LINE)->action;
}

static bool clock_is_virtual(void)
{
	return on_shared_cpu();
}
#endif

/* Has a virtual clock acknowledge its interrupts itself if they have one cause only, since register
 * C need not be asked for it then. Returns whether it does. An alarm that is set later counts as an
 * interrupt of ours. */
static bool clock_acknowledges(u8 control)
{
	bool wanted = (control & (RTC_PIE | RTC_AIE | RTC_UIE)) == RTC_PIE;

	if (!virtual)
		return false;
	CMOS_WRITE(wanted ? GANDALF_RTC_AUTOMATIC : 0, RTC_VALID);
	return CMOS_READ(RTC_VALID) & GANDALF_RTC_AUTOMATIC;
}

static void rtc_enable(u8 cause)
{
	unsigned long flags;
	u8 control;

	spin_lock_irqsave(&rtc_lock, flags);
	control = (CMOS_READ(RTC_CONTROL) & ~RTC_PIE) | cause;
	automatic = clock_acknowledges(control);
	CMOS_WRITE(RTC_REF_CLCK_32KHZ | RATE, RTC_FREQ_SELECT);
	CMOS_WRITE(control, RTC_CONTROL);
	CMOS_READ(RTC_INTR_FLAGS);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

/* Gives the line back, if there was somebody who had it. */
static void line_return(void)
{
	if (lender.handler && request_irq(LINE, lender.handler, lender.flags, lender.name,
					  lender.dev_id))
		pr_err("gandalf_rtc: rtc_cmos has lost its interrupt\n");
}

static int line_take(void)
{
	struct irqaction *action = line_action();
	int error;

	lender = action ? *action : (struct irqaction){ };
	if (action)
		free_irq(LINE, lender.dev_id);
	error = request_irq(LINE, rtc_interrupt, 0, "gandalf-rtc", &readers);
	if (error)
		line_return();
	return error;
}

static int rtc_open(struct inode *inode, struct file *file)
{
	int error;

	if (test_and_set_bit(0, &opened))
		return -EBUSY;
	error = line_take();
	if (error)
		clear_bit(0, &opened);
	else
		rtc_enable(RTC_PIE);
	return error;
}

static int rtc_release(struct inode *inode, struct file *file)
{
	rtc_enable(0);
	free_irq(LINE, &readers);
	line_return();
	clear_bit(0, &opened);
	return 0;
}

static ssize_t rtc_read(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	u32 seen = READ_ONCE(interrupts);

	if (size < sizeof(stamp))
		return -EINVAL;
	if (wait_event_interruptible(readers, READ_ONCE(interrupts) != seen))
		return -ERESTARTSYS;
	return put_user(READ_ONCE(stamp), (u32 __user *)buffer) ? -EFAULT : sizeof(stamp);
}

static const struct file_operations rtc_operations = {
	.owner = THIS_MODULE,
	.open = rtc_open,
	.release = rtc_release,
	.read = rtc_read,
};

static struct miscdevice rtc_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gandalf-rtc",
	.fops = &rtc_operations,
};

static int __init rtc_init(void)
{
	virtual = clock_is_virtual();
	return misc_register(&rtc_device);
}
device_initcall(rtc_init);
MODULE_LICENSE("GPL");
