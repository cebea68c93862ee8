/* SPDX-License-Identifier: Apache-2.0 */
/* The command report, which says in the VMM's words why it stopped a guest last. */
#include <stdio.h>

#include "command.h"
#include "guest.h"
#include "json.h"

int command_report(const struct arguments *arguments)
{
	char text[GANDALF_REPORT_SIZE];
	struct guest guest;
	long size;

	if (!guest_find(arguments->guest, &guest, NULL))
		return 1;
	size = device_read(GANDALF_OBJECT_REPORT, guest.place, 0, text, sizeof(text));
	if (size < 0)
		return refused(size);
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_string("guest", guest.status.name);
		json_string("state", guest_state_name(&guest));
		json_string("reason", guest.status.reason);
		json_bytes("report", text, (size_t)size);
		json_end();
	} else if (size) {
		fwrite(text, 1, (size_t)size, stdout);
	} else {
		printf("guest %s was never stopped by the VMM\n", guest.status.name);
	}
	return 0;
}
