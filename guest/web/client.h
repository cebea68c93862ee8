/* SPDX-License-Identifier: Apache-2.0 */
/* A client of web servers on lwIP, in the task of the network. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdint.h>

#include "lwip/ip4_addr.h"

/* The most bytes of an answer, its header included, that are kept. */
#define CLIENT_ANSWER_MAXIMUM 8192

/*
 * Sends a server all bytes of a request and waits for the end of its answer. done() is told how
 * many bytes there are of it, or that there is none: the connection failed. Only one request is
 * under way; another one ends it.
 */
void client_request(const ip4_addr_t *server, const char *bytes, uint32_t size,
		    void (*done)(const char *answer, uint32_t size));

#endif
