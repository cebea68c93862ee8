/* SPDX-License-Identifier: Apache-2.0 */
/* The command load, which gives an RTOS that does not run another image. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "image.h"
#include "json.h"

static int explain(const struct guest *guest, long error)
{
	const char *name = guest->status.name;

	switch (error) {
	case GANDALF_ERROR_STATE:
		return fail("guest %s has been started meanwhile: stop it first", name);
	case GANDALF_ERROR_BUSY:
		return fail("the VMM still works for guest %s: an RTOS keeps the CPU", name);
	case GANDALF_ERROR_IMAGE:
		return fail("the image of guest %s is not what was sent: load it again", name);
	case GANDALF_ERROR_SPACE:
		return fail("the VMM has no room for this image of guest %s", name);
	}
	return refused(error);
}

/* Returns whether the guest takes an image now, and false after a sentence. */
static bool takes_image(const struct guest *guest)
{
	const struct gandalf_guest_status *status = &guest->status;

	if (status->kind != GANDALF_KIND_RTOS)
		return !fail("guest %s is a Linux: only an RTOS can be loaded", status->name);
	if (!status->image_room)
		return !fail("guest %s takes no image: its description has no `image_room`",
			     status->name);
	if (guest_lives(guest))
		return !fail("guest %s is %s: stop it first", status->name,
			     guest_state_name(guest));
	return true;
}

/* Sends the image and has it loaded. It is an error if the VMM takes no byte, since it would be
 * asked again for ever. Returns 0 or the error. */
static long send(const struct guest *guest, const struct image *image)
{
	unsigned tries = 0;

	if (!guest_keep(guest))
		return GANDALF_ERROR_BUSY;
	for (uint32_t done = 0; done < image->size;) {
		long result = device_write(GANDALF_OBJECT_IMAGE, guest->place, done,
					   image->bytes + done, image->size - done);

		if (result == GANDALF_ERROR_BUSY && guest_waits(&tries))
			continue;
		if (result <= 0)
			return result ? result : GANDALF_ERROR_SPACE;
		done += (uint32_t)result;
		tries = 0;
	}
	return guest_load(guest, image->size, image->entry, image_crc(image));
}

static bool image_open(const char *path, const struct guest *guest, struct image *image)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	const char *reason;

	if (file < 0)
		return !fail("%s cannot be opened: %s", path, strerror(errno));
	reason = image_read(file, guest->status.memory_size - GANDALF_PAGE_SIZE,
			    guest->status.image_room, image);
	close(file);
	return !reason || !fail("%s %s", path, reason);
}

static int show(const struct arguments *arguments, const struct guest *guest,
		const struct image *image)
{
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_string("guest", guest->status.name);
		json_number("bytes", image->size);
		json_number("entry", image->entry);
		json_end();
	}
	return 0;
}

int command_load(const struct arguments *arguments)
{
	struct image image;
	struct guest guest;
	long result;

	if (!device_lock())
		return fail("an image is being loaded already: try again");
	if (!guest_find_other(arguments->guest, &guest) || !takes_image(&guest) ||
	    !image_open(arguments->image, &guest, &image))
		return 1;
	result = send(&guest, &image);
	free(image.bytes);
	return result < 0 ? explain(&guest, result) : show(arguments, &guest, &image);
}
