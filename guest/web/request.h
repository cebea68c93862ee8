/* SPDX-License-Identifier: Apache-2.0 */
/* What a browser asks for: the request of HTTP/1 (RFC 9112). */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* The most bytes of a request, its header included. */
#define REQUEST_MAXIMUM 1024

enum request_status {
	REQUEST_INCOMPLETE = 0, /* there is more to come */
	REQUEST_GOOD = 200,
	REQUEST_BAD = 400,
	REQUEST_METHOD = 405, /* neither GET nor HEAD */
	REQUEST_LONG = 431,
};

struct request {
	const char *path; /* in the bytes of the request, without what follows a '?' */
	uint32_t path_length;
	bool head; /* only the header of the answer is wanted */
};

/* Reads what has come so far. Returns what the answer is to say of it. request is set if it is
 * REQUEST_GOOD. */
enum request_status request_read(struct request *request, const char *bytes, uint32_t size);

/* Returns whether a request is for a path. */
bool request_is_for(const struct request *request, const char *path);

#endif
