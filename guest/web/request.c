/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requests of HTTP/1. Nothing here knows the guest. */
#include "request.h"

#include <string.h>

/* Returns whether the header's empty line has come. Lines end with LF, mostly with CR before it. */
static bool header_is_whole(const char *bytes, uint32_t size)
{
	uint32_t line = 0; /* bytes of this line without a CR */

	for (uint32_t i = 0; i < size; i++)
		if (bytes[i] != '\n')
			line += bytes[i] != '\r';
		else if (!line)
			return true;
		else
			line = 0;
	return false;
}

/* Returns the number of bytes before one of two characters, or size if there is neither. */
static uint32_t span_until(const char *bytes, uint32_t size, char one, char other)
{
	uint32_t length = 0;

	while (length < size && bytes[length] != one && bytes[length] != other)
		length++;
	return length;
}

static bool starts_with(const char *bytes, uint32_t size, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);

	return size >= length && memcmp(bytes, text, length) == 0;
}

/* Reads the line "METHOD PATH HTTP/1.x", without its end. */
static enum request_status line_read(struct request *request, const char *line, uint32_t size)
{
	uint32_t method = span_until(line, size, ' ', ' ');
	const char *path = line + method + 1;
	uint32_t rest, length;

	if (!method || method + 1 >= size || *path != '/')
		return REQUEST_BAD;
	rest = size - method - 1;
	length = span_until(path, rest, ' ', ' ');
	if (!starts_with(path + length, rest - length, " HTTP/1."))
		return REQUEST_BAD;
	request->path = path;
	request->path_length = span_until(path, length, '?', '#');
	request->head = starts_with(line, size, "HEAD ");
	return request->head || starts_with(line, size, "GET ") ? REQUEST_GOOD : REQUEST_METHOD;
}

enum request_status request_read(struct request *request, const char *bytes, uint32_t size)
{
	if (header_is_whole(bytes, size))
		return line_read(request, bytes, span_until(bytes, size, '\r', '\n'));
	return size < REQUEST_MAXIMUM ? REQUEST_INCOMPLETE : REQUEST_LONG;
}

bool request_is_for(const struct request *request, const char *path)
{
	return request->path_length == strlen(path) &&
	       memcmp(request->path, path, request->path_length) == 0;
}
