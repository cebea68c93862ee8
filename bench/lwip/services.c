/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench with which Linux speaks TCP/IP: FreeRTOS, lwIP and three services, which
 * are lwIP's task and have nothing else beside them. lwIP itself answers pings. Bytes of a stream
 * are the low bytes of their positions in it, so that each side sees what is lost or comes twice.
 *
 *	ECHO	sends back what comes, at once
 *	SINK	takes what comes, and when Linux has ended its side says how many bytes that were,
 *		and how many segments began or ended with another byte than they should
 *	SOURCE	sends as much as Linux takes
 */
#include "FreeRTOS.h"
#include "lwip/tcp.h"
#include "network_interface.h"
#include "print.h"
#include "rtos.h"
#include "task.h"

#define STACK 2048
#define PRIORITY (tskIDLE_PRIORITY + 1)
/* Not those of RFC 862 to 864, so that the tests' servers need no rights (bench/workload). */
#define ECHO_PORT 5007
#define SINK_PORT 5009
#define SOURCE_PORT 5019
#define NUMBERS 256u

/* What SINK says, as Linux reads it: both are little-endian. */
struct report {
	uint32_t bytes, wrong;
};

/* There is one connection at a time, and the next one ends it: Linux has lost it. */
static struct tcp_pcb *connection;
static struct report report;
/* Bytes that count up, from which as many as lwIP takes may begin with any number. */
static uint8_t numbers[NUMBERS + TCP_SND_BUF];
static uint32_t position;

static void connection_forget(struct tcp_pcb *pcb)
{
	tcp_recv(pcb, NULL);
	tcp_sent(pcb, NULL);
	tcp_err(pcb, NULL);
	connection = NULL;
}

/* Returns what a callback is to return. */
static err_t connection_abort(struct tcp_pcb *pcb)
{
	connection_forget(pcb);
	tcp_abort(pcb);
	return ERR_ABRT;
}

static err_t connection_close(struct tcp_pcb *pcb)
{
	connection_forget(pcb);
	if (tcp_close(pcb) == ERR_OK)
		return ERR_OK;
	tcp_abort(pcb);
	return ERR_ABRT;
}

/* lwIP has no such connection any more. */
static void connection_failed(void *unused, err_t error)
{
	(void)unused;
	(void)error;
	connection = NULL;
}

static bool connection_begin(struct tcp_pcb *pcb, err_t error, tcp_recv_fn received)
{
	if (error != ERR_OK || !pcb)
		return false;
	if (connection)
		connection_abort(connection);
	connection = pcb;
	position = 0;
	report = (struct report){ 0 };
	tcp_nagle_disable(pcb);
	tcp_recv(pcb, received);
	tcp_err(pcb, connection_failed);
	return true;
}

/* --- ECHO --- */

/* Linux waits for each answer, so there is room. */
static err_t echo_received(void *unused, struct tcp_pcb *pcb, struct pbuf *packet, err_t error)
{
	err_t result = ERR_OK;

	(void)unused;
	(void)error;
	if (!packet)
		return connection_close(pcb);
	for (struct pbuf *part = packet; part && result == ERR_OK; part = part->next)
		result = tcp_write(pcb, part->payload, part->len, TCP_WRITE_FLAG_COPY);
	tcp_recved(pcb, packet->tot_len);
	pbuf_free(packet);
	return result == ERR_OK ? ERR_OK : connection_abort(pcb);
}

static err_t echo_accept(void *unused, struct tcp_pcb *pcb, err_t error)
{
	(void)unused;
	return connection_begin(pcb, error, echo_received) ? ERR_OK : ERR_VAL;
}

/* --- SINK --- */

/* Looks at the ends alone: what lies between them has TCP's checksum. */
static void sink_look(const struct pbuf *part)
{
	const uint8_t *bytes = part->payload;
	uint32_t last = part->len - 1u;

	if (part->len == 0)
		return;
	report.wrong += bytes[0] != (uint8_t)report.bytes ||
			bytes[last] != (uint8_t)(report.bytes + last);
	report.bytes += part->len;
}

static err_t sink_received(void *unused, struct tcp_pcb *pcb, struct pbuf *packet, err_t error)
{
	(void)unused;
	(void)error;
	if (!packet) {
		if (tcp_write(pcb, &report, sizeof(report), TCP_WRITE_FLAG_COPY) != ERR_OK)
			return connection_abort(pcb);
		return connection_close(pcb);
	}
	for (const struct pbuf *part = packet; part; part = part->next)
		sink_look(part);
	tcp_recved(pcb, packet->tot_len);
	pbuf_free(packet);
	return ERR_OK;
}

static err_t sink_accept(void *unused, struct tcp_pcb *pcb, err_t error)
{
	(void)unused;
	return connection_begin(pcb, error, sink_received) ? ERR_OK : ERR_VAL;
}

/* --- SOURCE --- */

/* lwIP sends the bytes from where they are. What it does not take now, it is given when Linux has
 * acknowledged others. */
static void source_send(struct tcp_pcb *pcb)
{
	uint16_t size = (uint16_t)tcp_sndbuf(pcb);

	if (size && tcp_write(pcb, &numbers[position % NUMBERS], size, 0) == ERR_OK)
		position += size;
	tcp_output(pcb);
}

static err_t source_sent(void *unused, struct tcp_pcb *pcb, u16_t size)
{
	(void)unused;
	(void)size;
	source_send(pcb);
	return ERR_OK;
}

/* Linux has nothing to say but that it has enough. */
static err_t source_received(void *unused, struct tcp_pcb *pcb, struct pbuf *packet, err_t error)
{
	(void)unused;
	(void)error;
	if (packet)
		pbuf_free(packet);
	return connection_abort(pcb);
}

static err_t source_accept(void *unused, struct tcp_pcb *pcb, err_t error)
{
	(void)unused;
	if (!connection_begin(pcb, error, source_received))
		return ERR_VAL;
	tcp_sent(pcb, source_sent);
	source_send(pcb);
	return ERR_OK;
}

/* --- The program --- */

static bool service_start(uint16_t port, tcp_accept_fn accept)
{
	struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_V4), *listener;

	if (!pcb || tcp_bind(pcb, IP4_ADDR_ANY, port) != ERR_OK)
		return false;
	listener = tcp_listen_with_backlog(pcb, 1);
	if (!listener)
		return false;
	tcp_accept(listener, accept);
	return true;
}

static bool services_start(void)
{
	ip4_addr_t address;

	for (uint32_t i = 0; i < sizeof(numbers); i++)
		numbers[i] = (uint8_t)i;
	IP4_ADDR(&address, 10, 0, 0, 2);
	return network_interface_open(&address) && service_start(ECHO_PORT, echo_accept) &&
	       service_start(SINK_PORT, sink_accept) && service_start(SOURCE_PORT, source_accept);
}

static void nothing(void)
{
}

static void network_run(void *unused)
{
	(void)unused;
	network_interface_run(nothing);
}

void main(void)
{
	static StackType_t stack[STACK];
	static StaticTask_t task;

	if (!services_start()) {
		print("bench: services: there is no network, or no memory\n");
		return;
	}
	xTaskCreateStatic(network_run, "network", STACK, NULL, PRIORITY, stack, &task);
	vTaskStartScheduler();
}

/* --- What FreeRTOS calls --- */

void vApplicationIdleHook(void)
{
	interrupt_wait();
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
	(void)task;
	print("bench: services: %s has no stack left\n", name);
	__builtin_trap();
}

void assertion_failed(const char *file, unsigned int line)
{
	interrupt_disable();
	print("bench: services: %s:%u: an assertion failed\n", file, line);
	__builtin_trap();
}
