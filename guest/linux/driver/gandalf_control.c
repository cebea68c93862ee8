// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device /dev/gandalf, by which a program of root's manages the other guests. It has one ioctl,
 * which becomes the VMM's hypercalls READ, WRITE, ACT and ALIVE (control.h). It decides nothing:
 * what this guest may do is the VMM's to say.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include "control.h"
#include "gandalf.h"
#include "on_gandalf.h"

static_assert(_IOW('G', 1, struct gandalf_request) == GANDALF_IOCTL);

/*
 * The VMM reads and writes this memory, and never a program's, which may be absent. The kernel's
 * direct map never is, and an allocation of this size crosses no page.
 */
static u8 *chunk;
static DEFINE_MUTEX(chunk_mutex);

static long hypercall(u32 number, u32 what, u32 first, u32 size, u32 offset)
{
	long result;

	asm volatile("int %[vector]"
		     : "=a" (result)
		     : [vector] "i" (GANDALF_HYPERCALL_VECTOR), "0" (number),
		       "b" (what), "c" (first), "d" (size), "S" (offset)
		     : "memory");
	return result;
}

static long read_chunk(const struct gandalf_request *request, u32 done, u32 size)
{
	long result = hypercall(GANDALF_HYPERCALL_READ, request->what, (u32)chunk, size,
				request->offset + done);

	if (result > 0 &&
	    copy_to_user(u64_to_user_ptr(request->address) + done, chunk, min_t(u32, result, size)))
		return -EFAULT;
	return result;
}

static long write_chunk(const struct gandalf_request *request, u32 done, u32 size)
{
	if (copy_from_user(chunk, u64_to_user_ptr(request->address) + done, size))
		return -EFAULT;
	return hypercall(GANDALF_HYPERCALL_WRITE, request->what, (u32)chunk, size,
			 request->offset + done);
}

/* Moves chunks until everything is moved, the VMM moves less than it was asked for, or there is an
 * error. An error is returned only if nothing was moved before it. */
static long move(const struct gandalf_request *request)
{
	u32 total = min_t(u32, request->size, INT_MAX);
	u32 done = 0;

	while (done < total) {
		u32 size = min_t(u32, total - done, GANDALF_CONTROL_CHUNK);
		long result = request->operation == GANDALF_HYPERCALL_READ ?
				      read_chunk(request, done, size) :
				      write_chunk(request, done, size);

		if (result < 0)
			return done ? done : result;
		done += result;
		if (result < size || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

static long carry_out(const struct gandalf_request *request)
{
	switch (request->operation) {
	case GANDALF_HYPERCALL_READ:
	case GANDALF_HYPERCALL_WRITE:
		return move(request);
	case GANDALF_HYPERCALL_ACT:
		return hypercall(GANDALF_HYPERCALL_ACT, request->what, request->size,
				 request->offset, (u32)request->address);
	case GANDALF_HYPERCALL_ALIVE:
		return hypercall(GANDALF_HYPERCALL_ALIVE, 0, 0, 0, 0);
	}
	return -EINVAL;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct gandalf_request request;
	long result;

	if (command != GANDALF_IOCTL)
		return -ENOTTY;
	if (copy_from_user(&request, (const void __user *)argument, sizeof(request)))
		return -EFAULT;
	if (mutex_lock_interruptible(&chunk_mutex))
		return -ERESTARTSYS;
	result = carry_out(&request);
	mutex_unlock(&chunk_mutex);
	return result;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gandalf",
	.mode = 0600,
	.fops = &control_operations,
};

static int __init control_init(void)
{
	int error;

	if (!on_gandalf())
		return 0;
	chunk = kmalloc(GANDALF_CONTROL_CHUNK, GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	error = misc_register(&control_device);
	if (error)
		kfree(chunk);
	return error;
}
device_initcall(control_init);
