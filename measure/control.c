/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves one connection after the other on a thread of its own. A line is answered with "ok" or
 * with "error: " and a sentence; "ended" comes unasked. Commands are carried out only while the
 * machine is stopped: then no translated code runs, nothing needs a lock, and the measurement
 * begins and ends between the same two instructions every time.
 */
#define _GNU_SOURCE
#include "control.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "qemu.h"

static const char *(*carry_out)(const char *line);
static int listener;
static int connection = -1;

static void answer(const char *text)
{
	int to = __atomic_load_n(&connection, __ATOMIC_ACQUIRE);

	if (to >= 0)
		send(to, text, strlen(text), MSG_NOSIGNAL);
}

static void serve(const char *line)
{
	char text[200];
	const char *wrong;

	if (runstate_is_running())
		wrong = "the machine runs; stop it first";
	else
		wrong = carry_out(line);
	snprintf(text, sizeof(text), "%s%s\n", wrong ? "error: " : "ok", wrong ? wrong : "");
	answer(text);
}

static void serve_connection(int from)
{
	FILE *lines = fdopen(from, "r");
	char line[100];

	__atomic_store_n(&connection, from, __ATOMIC_RELEASE);
	while (lines && fgets(line, sizeof(line), lines)) {
		line[strcspn(line, "\n")] = '\0';
		serve(line);
	}
	__atomic_store_n(&connection, -1, __ATOMIC_RELEASE);
	if (lines)
		fclose(lines);
}

static void *run(void *unused)
{
	int from;

	while ((from = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		serve_connection(from);
	return unused;
}

/* QEMU directs its signals at threads of its own; none may land here. */
static int start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

const char *control_open(const char *path, const char *(*command)(const char *line))
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	carry_out = command;
	if (strlen(path) >= sizeof(address.sun_path))
		return "the name of the control socket is too long";
	strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 1) != 0 || start_thread() != 0)
		return "the control socket cannot be made";
	return NULL;
}

void control_tell_end(void)
{
	answer("ended\n");
}
