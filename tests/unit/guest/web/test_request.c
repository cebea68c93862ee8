/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP (request.h), right ones and others, however they are cut. */
#include "unit.h"

#include <string.h>

#include "request.h"

static struct request request;

static enum request_status read_text(const char *text)
{
	return request_read(&request, text, (u32)strlen(text));
}

static void a_path_is_found_without_what_follows_it(void **state)
{
	static const char *const lines[] = {
		"GET /page HTTP/1.1\r\nHost: a\r\n\r\n", "GET /page HTTP/1.0\n\n",
		"HEAD /page HTTP/1.1\r\n\r\n", "GET /page?a=/b HTTP/1.1\r\n\r\n",
		"GET /page#a?b HTTP/1.1\r\n\r\nmore that nobody has asked for",
	};

	(void)state;
	for (u32 i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_int_equal(read_text(lines[i]), REQUEST_GOOD);
		assert_true(request_is_for(&request, "/page"));
		assert_false(request_is_for(&request, "/pag"));
		assert_false(request_is_for(&request, "/pages"));
		assert_int_equal(request.head, lines[i][0] == 'H');
	}
}

static void what_is_no_request_is_bad(void **state)
{
	static const char *const lines[] = {
		"\r\n\r\n", "GET\r\n\r\n", "GET \r\n\r\n", "GET /\r\n\r\n", "GET / \r\n\r\n",
		"GET / HTTP\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET page HTTP/1.1\r\n\r\n",
		"GET / / HTTP/1.1\r\n\r\n", " / HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
		"GET /\nHTTP/1.1\r\n\r\n", "\n",
	};

	(void)state;
	for (u32 i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(read_text(lines[i]), REQUEST_BAD);
}

static void other_methods_are_told(void **state)
{
	static const char *const methods[] = { "POST", "get", "GETS", "GE", "HEADS", "DELETE" };
	char line[40];

	(void)state;
	for (u32 i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		snprintf(line, sizeof(line), "%s / HTTP/1.1\r\n\r\n", methods[i]);
		assert_int_equal(read_text(line), REQUEST_METHOD);
	}
}

static void a_request_that_is_cut_anywhere_is_incomplete(void **state)
{
	static const char whole[] = "GET /page HTTP/1.1\r\nHost: rtos\r\n\r\n";

	(void)state;
	for (u32 size = 0; size < sizeof(whole) - 2; size++)
		assert_int_equal(request_read(&request, whole, size), REQUEST_INCOMPLETE);
	assert_int_equal(request_read(&request, whole, sizeof(whole) - 1), REQUEST_GOOD);
}

static void a_header_that_does_not_end_is_too_long(void **state)
{
	char bytes[REQUEST_MAXIMUM];

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	assert_int_equal(request_read(&request, bytes, REQUEST_MAXIMUM - 1), REQUEST_INCOMPLETE);
	assert_int_equal(request_read(&request, bytes, REQUEST_MAXIMUM), REQUEST_LONG);
}

/* The sanitizers look at each access; a path lies within the bytes. */
static void no_bytes_lead_out_of_a_request(void **state)
{
	static const char letters[] = "GETHAD /.?#\r\n1P";
	u32 seed = 6, good = 0, bad = 0;

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		u32 size = 16 + random_next(&seed) % 16;
		char *bytes = malloc(size);
		enum request_status status;

		assert_non_null(bytes);
		for (u32 n = 0; n < size; n++)
			bytes[n] = letters[random_next(&seed) % (sizeof(letters) - 1)];
		if (random_next(&seed) % 2)
			memcpy(bytes, "GET / HTTP/1.", 13);
		if (random_next(&seed) % 2)
			memcpy(bytes + size - 2, "\n\n", 2);
		status = request_read(&request, bytes, size);
		if (status == REQUEST_GOOD)
			assert_true(request.path >= bytes &&
				    request.path + request.path_length <= bytes + size);
		good += status == REQUEST_GOOD;
		bad += status == REQUEST_BAD;
		free(bytes);
	}
	assert_true(good > 1000 && bad > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_found_without_what_follows_it),
		cmocka_unit_test(what_is_no_request_is_bad),
		cmocka_unit_test(other_methods_are_told),
		cmocka_unit_test(a_request_that_is_cut_anywhere_is_incomplete),
		cmocka_unit_test(a_header_that_does_not_end_is_too_long),
		cmocka_unit_test(no_bytes_lead_out_of_a_request),
	};

	return RUN_TESTS(tests);
}
