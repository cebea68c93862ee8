/* SPDX-License-Identifier: Apache-2.0 */
/* A client of web servers on lwIP's raw interface. */
#include "client.h"

#include <string.h>

#include "lwip/tcp.h"

#define PORT 80

static struct tcp_pcb *connection;
static const char *request;
static uint32_t request_size;
static void (*request_done)(const char *answer, uint32_t size);
static char answer[CLIENT_ANSWER_MAXIMUM];
static uint32_t answer_size;

static void client_finish(bool answered)
{
	connection = NULL;
	request_done(answer, answered ? answer_size : 0);
}

/* The answer ends with the connection. */
static err_t client_received(void *argument, struct tcp_pcb *pcb, struct pbuf *packet, err_t error)
{
	uint32_t room = sizeof(answer) - answer_size;
	uint16_t size;

	(void)argument;
	(void)error;
	if (!packet) {
		tcp_arg(pcb, NULL);
		tcp_recv(pcb, NULL);
		tcp_err(pcb, NULL);
		client_finish(true);
		if (tcp_close(pcb) == ERR_OK)
			return ERR_OK;
		tcp_abort(pcb);
		return ERR_ABRT;
	}
	size = (uint16_t)(packet->tot_len < room ? packet->tot_len : room);
	pbuf_copy_partial(packet, answer + answer_size, size, 0);
	answer_size += size;
	tcp_recved(pcb, packet->tot_len);
	pbuf_free(packet);
	return ERR_OK;
}

static err_t client_connected(void *argument, struct tcp_pcb *pcb, err_t error)
{
	(void)argument;
	(void)error;
	if (tcp_write(pcb, request, (u16_t)request_size, TCP_WRITE_FLAG_COPY) != ERR_OK) {
		tcp_abort(pcb); /* client_failed() is told */
		return ERR_ABRT;
	}
	return tcp_output(pcb);
}

static void client_failed(void *argument, err_t error)
{
	(void)argument;
	(void)error;
	client_finish(false);
}

void client_request(const ip4_addr_t *server, const char *bytes, uint32_t size,
		    void (*done)(const char *answer, uint32_t size))
{
	if (connection)
		tcp_abort(connection);
	request = bytes;
	request_size = size;
	request_done = done;
	answer_size = 0;
	connection = tcp_new_ip_type(IPADDR_TYPE_V4);
	if (!connection) {
		client_finish(false);
		return;
	}
	tcp_recv(connection, client_received);
	tcp_err(connection, client_failed);
	if (tcp_connect(connection, server, PORT, client_connected) != ERR_OK)
		tcp_abort(connection);
}
