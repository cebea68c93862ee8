/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A web server on lwIP's raw interface. Each connection brings one request and is sent one answer.
 * What comes behind the request is thrown away until the peer has ended its side, too: to close
 * before would reset the connection, and the peer might lose the answer. There are CONNECTIONS at
 * once, with static memory of their own, and each ends LIFETIME seconds after its beginning at the
 * latest: a peer that keeps some open keeps others out for so long and takes nothing else.
 */
#include "server.h"

#include <string.h>

#include "lwip/tcp.h"
#include "request.h"
#include "text.h"

#define PORT 80
#define CONNECTIONS 4
#define LIFETIME 15
/* lwIP calls poll() each so many half seconds. */
#define POLL_INTERVAL 2
#define HEADER_MAXIMUM 256

struct connection {
	struct tcp_pcb *pcb; /* NULL: there is none */
	uint32_t age;	     /* in seconds */
	uint32_t received;   /* bytes of the request */
	const char *answer;  /* NULL: the request is not whole */
	uint32_t left;	     /* bytes of the answer that lwIP does not have yet */
	uint32_t unseen;     /* bytes of it that the peer has not acknowledged */
	bool ended;	     /* the peer sends no more */
	char request[REQUEST_MAXIMUM];
	char bytes[HEADER_MAXIMUM + SERVER_CONTENT_MAXIMUM];
};

static struct connection connections[CONNECTIONS];
static const struct server_content *server_contents;

static const char *status_text(uint32_t status)
{
	switch (status) {
	case 200:
		return "OK";
	case 404:
		return "Not Found";
	case REQUEST_METHOD:
		return "Method Not Allowed";
	case REQUEST_LONG:
		return "Request Header Fields Too Large";
	default:
		return "Bad Request";
	}
}

/* Forgets a connection, of which lwIP will not call back any more. */
static void connection_forget(struct connection *connection)
{
	tcp_arg(connection->pcb, NULL);
	tcp_recv(connection->pcb, NULL);
	tcp_sent(connection->pcb, NULL);
	tcp_poll(connection->pcb, NULL, 0);
	tcp_err(connection->pcb, NULL);
	connection->pcb = NULL;
}

static void connection_abort(struct connection *connection)
{
	struct tcp_pcb *pcb = connection->pcb;

	connection_forget(connection);
	tcp_abort(pcb);
}

/* Ends a connection as it should, if there is memory for that. Returns what a callback is to
 * return. */
static err_t connection_close(struct connection *connection)
{
	struct tcp_pcb *pcb = connection->pcb;

	connection_forget(connection);
	if (tcp_close(pcb) == ERR_OK)
		return ERR_OK;
	tcp_abort(pcb);
	return ERR_ABRT;
}

/* Gives lwIP as much of the answer as it takes. It sends the bytes from where they are, so they
 * stay until all are acknowledged. What it does not take, it is given at the next callback. */
static void connection_send(struct connection *connection)
{
	while (connection->left) {
		uint32_t room = tcp_sndbuf(connection->pcb);
		uint16_t size = (uint16_t)(connection->left < room ? connection->left : room);

		if (!size || tcp_write(connection->pcb, connection->answer, size, 0) != ERR_OK)
			break;
		connection->answer += size;
		connection->left -= size;
	}
	tcp_output(connection->pcb);
}

/* Writes the header in front of the content that is there. head: the content is not sent. */
static void answer_finish(struct connection *connection, uint32_t status, const char *type,
			  uint32_t size, bool head)
{
	char line[HEADER_MAXIMUM];
	struct text_buffer text = { .to = line, .size = sizeof(line) };
	char *content = connection->bytes + HEADER_MAXIMUM;

	text_add(&text,
		 "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %u\r\n"
		 "Cache-Control: no-store\r\n%sConnection: close\r\n\r\n",
		 status, status_text(status), type, size,
		 status == REQUEST_METHOD ? "Allow: GET, HEAD\r\n" : "");
	connection->answer = memcpy(content - text.length, line, text.length);
	connection->left = connection->unseen = text.length + (head ? 0 : size);
}

static void answer_write(struct connection *connection, const struct request *request,
			 uint32_t status)
{
	const struct server_content *content = server_contents;
	char *to = connection->bytes + HEADER_MAXIMUM;
	struct text_buffer text = { .to = to, .size = SERVER_CONTENT_MAXIMUM };

	if (status == REQUEST_GOOD)
		while (content->path && !request_is_for(request, content->path))
			content++;
	if (status == REQUEST_GOOD && content->path) {
		answer_finish(connection, status, content->type, content->write(to),
			      request->head);
		return;
	}
	status = status == REQUEST_GOOD ? 404 : status;
	text_add(&text, "%u %s\n", status, status_text(status));
	answer_finish(connection, status, "text/plain", text.length, request->head);
}

/* Takes what has come of the request; answers when it is whole. What follows it is thrown away. */
static void connection_take(struct connection *connection, const struct pbuf *packet)
{
	uint32_t room = REQUEST_MAXIMUM - connection->received;
	uint16_t size = (uint16_t)(packet->tot_len < room ? packet->tot_len : room);
	struct request request = { 0 };
	enum request_status status;

	if (connection->answer)
		return;
	pbuf_copy_partial(packet, connection->request + connection->received, size, 0);
	connection->received += size;
	status = request_read(&request, connection->request, connection->received);
	if (status != REQUEST_INCOMPLETE)
		answer_write(connection, &request, status);
}

static err_t server_received(void *argument, struct tcp_pcb *pcb, struct pbuf *packet, err_t error)
{
	struct connection *connection = argument;

	(void)error;
	if (!packet) {
		connection->ended = true; /* it may wait for the rest of the answer */
		return connection->unseen ? ERR_OK : connection_close(connection);
	}
	tcp_recved(pcb, packet->tot_len);
	connection_take(connection, packet);
	pbuf_free(packet);
	if (connection->left)
		connection_send(connection);
	return ERR_OK;
}

static err_t server_sent(void *argument, struct tcp_pcb *pcb, u16_t size)
{
	struct connection *connection = argument;

	connection->unseen -= size;
	if (connection->unseen) {
		connection_send(connection);
		return ERR_OK;
	}
	if (!connection->ended && tcp_shutdown(pcb, false, true) == ERR_OK)
		return ERR_OK;
	return connection_close(connection);
}

static err_t server_poll(void *argument, struct tcp_pcb *pcb)
{
	struct connection *connection = argument;

	(void)pcb;
	if (++connection->age > LIFETIME * 2 / POLL_INTERVAL) {
		connection_abort(connection);
		return ERR_ABRT;
	}
	if (connection->left)
		connection_send(connection);
	return ERR_OK;
}

/* The connection is gone, with all that lwIP had of it. */
static void server_failed(void *argument, err_t error)
{
	struct connection *connection = argument;

	(void)error;
	connection->pcb = NULL;
}

static err_t server_accept(void *argument, struct tcp_pcb *pcb, err_t error)
{
	struct connection *connection = connections;

	(void)argument;
	if (error != ERR_OK || !pcb)
		return ERR_VAL;
	while (connection < connections + CONNECTIONS && connection->pcb)
		connection++;
	if (connection == connections + CONNECTIONS)
		return ERR_MEM; /* lwIP ends it */
	connection->pcb = pcb;
	connection->age = connection->received = connection->left = connection->unseen = 0;
	connection->answer = NULL;
	connection->ended = false;
	tcp_arg(pcb, connection);
	tcp_recv(pcb, server_received);
	tcp_sent(pcb, server_sent);
	tcp_poll(pcb, server_poll, POLL_INTERVAL);
	tcp_err(pcb, server_failed);
	return ERR_OK;
}

bool server_start(const struct server_content *contents)
{
	struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_V4), *listener;

	server_contents = contents;
	if (!pcb || tcp_bind(pcb, IP4_ADDR_ANY, PORT) != ERR_OK)
		return false;
	listener = tcp_listen_with_backlog(pcb, CONNECTIONS);
	if (!listener)
		return false;
	tcp_accept(listener, server_accept);
	return true;
}

void server_abandon(void)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		if (connections[i].pcb)
			connection_abort(&connections[i]);
}
