/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FreeRTOS demo with a client for the web server of another RTOS, for tests, which so need no
 * Linux with networks. Its commands fetch a page, and do what a hostile guest does to a network.
 * The console's task hands each over to the network's, and waits for its end.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "client.h"
#include "commands.h"
#include "demo.h"
#include "demo_tasks.h"
#include "network.h"
#include "network_interface.h"
#include "task.h"
#include "terminal.h"

#define NETWORK_STACK 2048
#define PATH_MAXIMUM 80
#define GARBAGE_FRAMES 2000
/* Frames between which the other guest may take some. */
#define GARBAGE_AT_ONCE 8

static struct netif *interface;
static ip4_addr_t server;
static void (*volatile wanted)(void); /* what the network's task is to do */
static volatile bool running;
static char request_bytes[PATH_MAXIMUM + 40];
static uint32_t random_state = 1, garbage_left;

/* --- The network's task --- */

static uint32_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

/* Prints the answer in pieces that terminal_print() takes, each behind a mark, and ends of lines as
 * "~". */
static void answer_show(const char *answer, uint32_t size)
{
	const uint32_t width = 100;
	char piece[101];

	for (uint32_t at = 0; at < size; at += width) {
		uint32_t length = size - at < width ? size - at : width;

		for (uint32_t i = 0; i < length; i++)
			piece[i] = answer[at + i] < ' ' ? '~' : answer[at + i];
		piece[length] = '\0';
		terminal_print("|%s", piece);
	}
	terminal_print("fetch: %u bytes", size);
	running = false;
}

static void fetch_begin(void)
{
	client_request(&server, request_bytes, (uint32_t)strlen(request_bytes), answer_show);
}

/* Sends a frame of any size, which is random or begins as one for the server does. */
static void garbage_send(void)
{
	static uint8_t bytes[GANDALF_NETWORK_FRAME];
	/* ARP, IPv4 and what begins with its version and length */
	static const uint8_t types[3][3] = { { 8, 6, 0 }, { 8, 0, 0x45 }, { 8, 0, 0x4f } };
	uint32_t size = GANDALF_NETWORK_HEADER +
			random_next() % (GANDALF_NETWORK_FRAME - GANDALF_NETWORK_HEADER + 1);

	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_next();
	if (random_next() % 4) {
		memset(bytes, 0xff, 6); /* to all */
		memcpy(bytes + 12, types[random_next() % 3], 3);
		if (random_next() % 2)
			memcpy(bytes + 30, &server, sizeof(server));
	}
	network_interface_send(bytes, size);
}

/* Goes on for as long as there is any left, each time that the network's task has woken. */
static void garbage_continue(void)
{
	for (uint32_t i = 0; i < GARBAGE_AT_ONCE && garbage_left; i++, garbage_left--)
		garbage_send();
	if (garbage_left) {
		wanted = garbage_continue;
		network_interface_wake();
		return;
	}
	terminal_print("garbage: %u frames", GARBAGE_FRAMES);
	running = false;
}

static void garbage_begin(void)
{
	garbage_left = GARBAGE_FRAMES;
	garbage_continue();
}

/* Writes a position outside of the ring, which stays for as long as this life lasts. */
static void ring_break(void)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];
	struct gandalf_network *network = (struct gandalf_network *)place->address;

	network->rings[place->side].head |= GANDALF_CHANNEL_POSITION & ~3u;
	hypercall(GANDALF_HYPERCALL_DOORBELL, place->peer, 0);
	terminal_print("break: the ring is broken");
	running = false;
}

static void network_work(void)
{
	void (*work)(void) = wanted;

	if (!work)
		return;
	wanted = NULL;
	work();
}

static void network_run(void *unused)
{
	(void)unused;
	network_interface_run(network_work);
}

/* --- The console's task --- */

static void hand_over(void (*work)(void))
{
	running = true;
	wanted = work;
	network_interface_wake();
	while (running)
		os_tick_sleep();
}

static void request_append(const char *text)
{
	uint32_t length = (uint32_t)strlen(request_bytes);
	uint32_t size = (uint32_t)strlen(text) + 1;

	if (length + size <= sizeof(request_bytes))
		memcpy(request_bytes + length, text, size);
}

static void command_get(const char *argument)
{
	request_bytes[0] = '\0';
	request_append("GET ");
	request_append(argument);
	request_append(" HTTP/1.1\r\nHost: rtos\r\n\r\n");
	hand_over(fetch_begin);
}

static void command_raw(const char *argument)
{
	request_bytes[0] = '\0';
	request_append(argument);
	request_append("\r\n\r\n");
	hand_over(fetch_begin);
}

static void command_garbage(const char *argument)
{
	(void)argument;
	hand_over(garbage_begin);
}

static void command_break(const char *argument)
{
	(void)argument;
	hand_over(ring_break);
}

const struct command commands[] = {
	COMMANDS_COMMON,
	{ "get", "PATH", "fetches it from the web server", command_get },
	{ "raw", "REQUEST", "sends the web server a line", command_raw },
	{ "garbage", "", "sends frames of random bytes", command_garbage },
	{ "break", "", "writes nonsense into the network's memory", command_break },
	{ 0 },
};

void main(void)
{
	static StackType_t network_stack[NETWORK_STACK];
	static StaticTask_t network;
	ip4_addr_t address;

	IP4_ADDR(&address, 10, 0, 0, 1);
	IP4_ADDR(&server, 10, 0, 0, 2);
	demo_tasks_create();
	interface = network_interface_open(&address);
	if (interface)
		xTaskCreateStatic(network_run, "network", NETWORK_STACK, NULL,
				  DEMO_BACKGROUND_PRIORITY, network_stack, &network);
	vTaskStartScheduler();
}
