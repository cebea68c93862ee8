// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices /dev/gandalf-NAME, one for each channel that this Linux has with another guest
 * (channel_end.h), except for networks (gandalf_net.c). read() waits for bytes, write() for room,
 * poll() for either. When the other guest has started or stopped, a read gives the end of file once
 * and a write fails with ECONNRESET. What follows belongs to the other's new life. A write of which
 * some bytes went before returns their number, and the next one fails.
 *
 * One interrupt tells of all channels, and whoever waits looks for himself.
 */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "channel_end.h"
#include "doorbell.h"
#include "gandalf.h"
#include "network_end.h"
#include "on_gandalf.h"

/* The most bytes that move between two rings of the doorbell, and those that need no memory but the
 * stack's. */
#define CHUNK PAGE_SIZE
#define SMALL 256
#define NAME_SIZE 32

struct channel_device {
	struct miscdevice misc;
	char name[NAME_SIZE];
	u32 peer;
	struct channel_end end;
	struct mutex mutex; /* held by the reader or writer that has the end */
	bool cut;           /* the last write was cut short by a new epoch and has not told of it */
};

static DECLARE_WAIT_QUEUE_HEAD(changed);

static irqreturn_t channel_interrupt(int irq, void *unused)
{
	wake_up_interruptible(&changed);
	return IRQ_HANDLED;
}

static struct channel_device *device_of(struct file *file)
{
	return container_of(file->private_data, struct channel_device, misc);
}

/* Returns room for a chunk of so many bytes: small if that is enough. NULL: there is no memory. */
static u8 *chunk_begin(u8 small[SMALL], size_t size)
{
	return size <= SMALL ? small : kmalloc(min_t(size_t, size, CHUNK), GFP_KERNEL);
}

static void chunk_end(const u8 *bytes, const u8 small[SMALL])
{
	if (bytes != small)
		kfree(bytes);
}

/* Receives up to CHUNK bytes, and tells the other guest. */
static int32_t receive_step(struct channel_device *device, u8 *bytes, u32 size)
{
	int32_t moved;

	if (mutex_lock_interruptible(&device->mutex))
		return -ERESTARTSYS;
	moved = channel_receive(&device->end, bytes, size);
	mutex_unlock(&device->mutex);
	if (moved > 0)
		doorbell(device->peer);
	return moved;
}

/* Sends up to CHUNK bytes likewise. goes_on: this has been tried before, in *epoch; if a reader has
 * learned of another one meanwhile, what is left is not for that. */
static int32_t send_step(struct channel_device *device, u8 *bytes, u32 size, bool goes_on,
			 u32 *epoch)
{
	int32_t moved = GANDALF_CHANNEL_RESET;

	if (mutex_lock_interruptible(&device->mutex))
		return -ERESTARTSYS;
	if (!goes_on || *epoch == device->end.epoch)
		moved = channel_send(&device->end, bytes, size);
	*epoch = device->end.epoch;
	mutex_unlock(&device->mutex);
	if (moved > 0)
		doorbell(device->peer);
	return moved;
}

static ssize_t channel_error(int32_t error, bool write)
{
	if (error == GANDALF_CHANNEL_RESET)
		return write ? -ECONNRESET : 0;
	return error == GANDALF_CHANNEL_BROKEN ? -EPROTO : error;
}

static ssize_t read_chunk(struct file *file, char __user *to, u8 *bytes, u32 size)
{
	struct channel_device *device = device_of(file);
	int32_t moved;

	while (!(moved = receive_step(device, bytes, size))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(changed, channel_ready(&device->end, false)))
			return -ERESTARTSYS;
	}
	if (moved < 0)
		return channel_error(moved, false);
	return copy_to_user(to, bytes, moved) ? -EFAULT : moved;
}

static ssize_t channel_read(struct file *file, char __user *to, size_t size, loff_t *unused)
{
	u8 small[SMALL], *bytes = chunk_begin(small, size);
	ssize_t result;

	if (!bytes)
		return -ENOMEM;
	result = size ? read_chunk(file, to, bytes, min_t(size_t, size, CHUNK)) : 0;
	chunk_end(bytes, small);
	return result;
}

static ssize_t write_chunks(struct file *file, const char __user *from, u8 *bytes, size_t size)
{
	struct channel_device *device = device_of(file);
	bool begun = false;
	size_t done = 0;
	u32 epoch = 0;

	while (done < size) {
		u32 chunk = min_t(size_t, size - done, CHUNK);
		int32_t moved;

		if (copy_from_user(bytes, from + done, chunk))
			return done ? done : -EFAULT;
		moved = send_step(device, bytes, chunk, begun, &epoch);
		begun = true;
		if (done && moved == GANDALF_CHANNEL_RESET)
			device->cut = true;
		if (moved < 0)
			return done ? done : channel_error(moved, true);
		done += moved;
		if (moved)
			continue;
		if (file->f_flags & O_NONBLOCK)
			return done ? done : -EAGAIN;
		if (wait_event_interruptible(changed, channel_ready(&device->end, true)))
			return done ? done : -ERESTARTSYS;
	}
	return done;
}

static ssize_t channel_write(struct file *file, const char __user *from, size_t size,
			     loff_t *unused)
{
	u8 small[SMALL], *bytes;
	ssize_t result;

	if (size && xchg(&device_of(file)->cut, false))
		return -ECONNRESET;
	bytes = chunk_begin(small, size);
	if (!bytes)
		return -ENOMEM;
	result = write_chunks(file, from, bytes, size);
	chunk_end(bytes, small);
	return result;
}

static __poll_t channel_poll(struct file *file, poll_table *table)
{
	struct channel_device *device = device_of(file);
	__poll_t events = 0;

	poll_wait(file, &changed, table);
	if (channel_ready(&device->end, false))
		events |= EPOLLIN | EPOLLRDNORM;
	if (channel_ready(&device->end, true))
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}

static const struct file_operations channel_operations = {
	.owner = THIS_MODULE,
	.read = channel_read,
	.write = channel_write,
	.poll = channel_poll,
	.llseek = no_llseek,
};

static int __init channel_create(const struct gandalf_channel_place *place)
{
	struct channel_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	void *memory = memremap(place->address, place->size, MEMREMAP_WB);
	int error = -ENOMEM;

	if (device && memory) {
		channel_open(&device->end, memory, place);
		mutex_init(&device->mutex);
		device->peer = place->peer;
		snprintf(device->name, sizeof(device->name), "gandalf-%.15s", place->name);
		device->misc.name = device->name;
		device->misc.minor = MISC_DYNAMIC_MINOR;
		device->misc.mode = 0600;
		device->misc.fops = &channel_operations;
		error = misc_register(&device->misc);
	}
	if (error) {
		if (memory)
			memunmap(memory);
		kfree(device);
	}
	return error;
}

static int __init channel_init(void)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;
	int error;

	if (!on_gandalf() || !shared->channels[0].name[0])
		return 0;
	/* The line is the networks' as well (gandalf_net.c). */
	error = request_irq(GANDALF_DOORBELL_IRQ, channel_interrupt, IRQF_SHARED, "gandalf-channel",
			    &changed);
	for (u32 i = 0; !error && i < GANDALF_CHANNELS_MAXIMUM && shared->channels[i].name[0]; i++)
		if (!network_is(&shared->channels[i]))
			error = channel_create(&shared->channels[i]);
	return error;
}
device_initcall(channel_init);
