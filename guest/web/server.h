/* SPDX-License-Identifier: Apache-2.0 */
/* A web server on lwIP, in the task of the network. */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stdint.h>

/* The most bytes of what a path has. */
#define SERVER_CONTENT_MAXIMUM 4096

/* Something that is served. write() makes it anew for each request, in a place for
 * SERVER_CONTENT_MAXIMUM bytes, and returns its size. */
struct server_content {
	const char *path;
	const char *type;
	uint32_t (*write)(char *to);
};

/* Begins to serve contents, of which the last has no path, at port 80. Returns false if lwIP lacks
 * memory. */
bool server_start(const struct server_content *contents);

/* Ends all connections: who was at their other end is gone. */
void server_abandon(void);

#endif
