/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command console, which connects the terminal with a guest's console, both ways. The VMM
 * interrupts nobody for it, so both are looked at every 20 ms.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"
#include "ring.h"

#define PAUSE_MS 20
#define CTRL_A 0x01
#define CTRL_BRACKET 0x1d

/* So many bytes are read at once. Each may become two. */
#define TYPED 128

/* Holds what was typed and the guest has not taken yet. */
struct keys {
	char pending[1024];
	unsigned count;
	bool terminal; /* a person types, and must be able to leave whatever the guest does */
	bool prefix;   /* a Ctrl-A has come, and the key after it has not */
	bool leave;
	bool end;      /* the input is at its end; what is pending is still sent */
};

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	signalled = number;
}

/* Has a signal end a read or a sleep with EINTR, so that the terminal is restored on the way
 * out. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* Has keys go to the guest as they are. Line ends of its output are completed. */
static void terminal_raw(const struct termios *before)
{
	struct termios raw = *before;

	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void key_add(struct keys *keys, char key)
{
	if (keys->count < sizeof(keys->pending))
		keys->pending[keys->count++] = key;
}

/* Takes a key. Ctrl-] leaves, and so does Ctrl-A d. Ctrl-A a is a Ctrl-A for the guest. */
static void key_take(struct keys *keys, char key)
{
	if (keys->prefix) {
		keys->prefix = false;
		keys->leave = key == 'd';
		if (!keys->leave)
			key_add(keys, CTRL_A);
		if (!keys->leave && key != 'a')
			key_add(keys, key);
	} else if (key == CTRL_BRACKET) {
		keys->leave = true;
	} else if (key == CTRL_A) {
		keys->prefix = true;
	} else {
		key_add(keys, key);
	}
}

/* Waits a while for keys. Those of a pipe wait for room. A person's are lost if there is none. */
static void keys_read(struct keys *keys)
{
	bool room = keys->terminal || keys->count + 2 * TYPED <= sizeof(keys->pending);
	struct pollfd input = {.fd = room && !keys->end ? STDIN_FILENO : -1, .events = POLLIN};
	char typed[TYPED];
	ssize_t count;

	if (poll(&input, 1, PAUSE_MS) <= 0)
		return;
	count = read(STDIN_FILENO, typed, sizeof(typed));
	if (count == 0 || (count < 0 && errno != EINTR))
		keys->end = true;
	for (ssize_t i = 0; i < count && !keys->leave; i++)
		key_take(keys, typed[i]);
}

/* Sends what is pending. A guest that does not run takes nothing, so what is typed then is
 * dropped. */
static bool keys_send(struct keys *keys, uint32_t place)
{
	long taken;

	if (!keys->count)
		return true;
	taken = device_write(GANDALF_OBJECT_CONSOLE, place, 0, keys->pending, keys->count);
	if (taken == GANDALF_ERROR_STATE)
		taken = (long)keys->count;
	if (taken == GANDALF_ERROR_BUSY)
		taken = 0;
	if (taken < 0)
		return !refused(taken);
	keys->count -= (unsigned)taken;
	memmove(keys->pending, keys->pending + taken, keys->count);
	return true;
}

static bool output_show(struct ring *ring)
{
	static char bytes[GANDALF_CONSOLE_RING];
	uint32_t lost;
	long size = ring_read(ring, bytes, &lost);

	if (size < 0)
		return false;
	if (lost)
		printf("\n[%u bytes were lost]\n", lost);
	fwrite(bytes, 1, (size_t)size, stdout);
	fflush(stdout);
	return true;
}

static int connect_console(struct ring *ring, bool terminal)
{
	struct keys keys = {.terminal = terminal};

	while (output_show(ring)) {
		if (signalled || keys.leave || (keys.end && !keys.count))
			return 0;
		keys_read(&keys);
		if (!keys_send(&keys, ring->place))
			return 1;
	}
	return 1;
}

static int attach(const struct guest *guest, struct ring *ring)
{
	struct termios before;
	bool terminal = !tcgetattr(STDIN_FILENO, &before);
	int status;

	catch_signals();
	if (terminal) {
		fprintf(stderr, "[console %s: Ctrl-] leaves]\n", guest->status.name);
		terminal_raw(&before);
	}
	status = connect_console(ring, terminal);
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
		fprintf(stderr, "\n[left console %s]\n", guest->status.name);
	}
	return status;
}

/* Shows what the ring has, for --json. Nothing is typed then. */
static int show_json(const struct guest *guest, struct ring *ring)
{
	static char bytes[GANDALF_CONSOLE_RING];
	bool complete = ring->complete;
	uint32_t lost;
	long size = ring_read(ring, bytes, &lost);

	if (size < 0)
		return 1;
	json_object(NULL);
	json_string("guest", guest->status.name);
	json_truth("complete", complete && !lost);
	json_bytes("text", bytes, (size_t)size);
	json_end();
	return 0;
}

int command_console(const struct arguments *arguments)
{
	struct guest guest;
	struct ring ring;

	if (!guest_find_other(arguments->guest, &guest) || !ring_begin(&ring, guest.place))
		return 1;
	return json_wanted(arguments) ? show_json(&guest, &ring) : attach(&guest, &ring);
}
