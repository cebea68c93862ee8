/* SPDX-License-Identifier: Apache-2.0 */
/* The way to the VMM by the driver's ioctl (guest/linux/driver/gandalf_control.c). */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include "fail.h"

#define DEVICE "/dev/gandalf"

static int device = -1;

/* A request that is asked for again until it is done is known by the core that has asked, so this
 * must not go to another one meanwhile. The first vCPU is the one that never does. If it may not be
 * used, the request goes on, and what comes of it is told as always. */
static void stay_on_one_core(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
}

bool device_open(void)
{
	stay_on_one_core();
	device = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (device >= 0)
		return true;
	if (errno == ENOENT)
		fail("there is no %s: this Linux does not run on Gandalf, or lacks the driver",
		     DEVICE);
	else if (errno == EACCES)
		fail("%s is root's: run the command as root", DEVICE);
	else
		fail("%s cannot be opened: %s", DEVICE, strerror(errno));
	return false;
}

bool device_lock(void)
{
	return !flock(device, LOCK_EX | LOCK_NB);
}

bool device_keep(uint32_t place)
{
	struct flock guest = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = place,
		.l_len = 1,
	};

	return !fcntl(device, F_SETLK, &guest);
}

static long request(uint32_t operation, uint32_t what, uint32_t size, uint32_t offset,
		    uint64_t address)
{
	struct gandalf_request call = {
		.operation = operation,
		.what = what,
		.size = size,
		.offset = offset,
		.address = address,
	};
	int result = ioctl(device, GANDALF_IOCTL, &call);

	return result < 0 ? -errno : result;
}

long device_read(uint32_t object, uint32_t place, uint32_t offset, void *to, uint32_t size)
{
	return request(GANDALF_HYPERCALL_READ, object | place << GANDALF_PLACE_SHIFT, size, offset,
		       (uintptr_t)to);
}

long device_write(uint32_t object, uint32_t place, uint32_t offset, const void *from,
		  uint32_t size)
{
	return request(GANDALF_HYPERCALL_WRITE, object | place << GANDALF_PLACE_SHIFT, size,
		       offset, (uintptr_t)from);
}

long device_act(uint32_t action, uint32_t place, uint32_t size, uint32_t entry, uint32_t crc)
{
	return request(GANDALF_HYPERCALL_ACT, action | place << GANDALF_PLACE_SHIFT, size, entry,
		       crc);
}

long device_alive(void)
{
	return request(GANDALF_HYPERCALL_ALIVE, 0, 0, 0, 0);
}
