/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 8259 pair: priorities, nesting, EOI in all forms, the cascade.
 */
#include "unit.h"

#include "device/pic.h"

#define MASTER 0x20
#define SLAVE 0xa0

static void initialise_chip(struct pic_pair *pair, u16 port, u8 vector, u8 icw4)
{
	pic_write(pair, port, 0x11);
	pic_write(pair, port + 1, vector);
	pic_write(pair, port + 1, port == MASTER ? 4 : 2);
	pic_write(pair, port + 1, icw4);
}

/* As Linux does it: vectors 0x30 and 0x38, nothing masked. */
static struct pic_pair initialised(void)
{
	struct pic_pair pair;

	pic_reset(&pair);
	initialise_chip(&pair, MASTER, 0x30, 0x01);
	initialise_chip(&pair, SLAVE, 0x38, 0x01);
	return pair;
}

static void pulse(struct pic_pair *pair, unsigned line)
{
	pic_set_line(pair, line, true);
	pic_set_line(pair, line, false);
}

static u8 read_register(struct pic_pair *pair, u16 port, u8 command)
{
	pic_write(pair, port, command);
	return pic_read(pair, port);
}

static u8 read_requests(struct pic_pair *pair, u16 port)
{
	return read_register(pair, port, 0x0a);
}

static u8 read_service(struct pic_pair *pair, u16 port)
{
	return read_register(pair, port, 0x0b);
}

static void nothing_before_initialisation(void **state)
{
	struct pic_pair pair;

	(void)state;
	pic_reset(&pair);
	pulse(&pair, 0);
	assert_int_equal(pic_pending(&pair), -1);
	pic_write(&pair, MASTER, 0x11);
	pic_write(&pair, MASTER + 1, 0x30);
	pic_write(&pair, MASTER + 1, 4);
	pulse(&pair, 0);
	assert_int_equal(pic_pending(&pair), -1);
	pic_write(&pair, MASTER + 1, 1);
	assert_int_equal(pic_pending(&pair), 0x30);
}

static void every_line_has_its_vector(void **state)
{
	(void)state;
	for (unsigned line = 0; line < 16; line++) {
		struct pic_pair pair = initialised();

		pic_set_line(&pair, line, true);
		if (line == 2) {
			assert_int_equal(pic_pending(&pair), -1);
			continue;
		}
		assert_int_equal(pic_pending(&pair), 0x30 + line);
		assert_int_equal(pic_acknowledge(&pair), 0x30 + line);
		assert_int_equal(pic_pending(&pair), -1);
	}
}

static void an_edge_counts_once(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	assert_false(pic_line(&pair, 4));
	pic_set_line(&pair, 4, true);
	pic_set_line(&pair, 4, true);
	assert_true(pic_line(&pair, 4));
	assert_false(pic_line(&pair, 12)); /* the other chip's */
	assert_int_equal(pic_acknowledge(&pair), 0x34);
	pic_write(&pair, MASTER, 0x20);
	assert_int_equal(pic_pending(&pair), -1);
	pic_set_line(&pair, 4, false);
	pic_set_line(&pair, 4, true);
	assert_int_equal(pic_pending(&pair), 0x34);
}

static void an_edge_while_in_service_is_kept(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pulse(&pair, 0);
	pic_acknowledge(&pair);
	pulse(&pair, 0);
	assert_int_equal(pic_pending(&pair), -1);
	pic_write(&pair, MASTER, 0x20);
	assert_int_equal(pic_pending(&pair), 0x30);
}

static void masks_hold_back_and_keep(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pic_write(&pair, MASTER + 1, 0x01);
	assert_int_equal(pic_read(&pair, MASTER + 1), 0x01);
	pulse(&pair, 0);
	assert_int_equal(pic_pending(&pair), -1);
	assert_int_equal(read_requests(&pair, MASTER), 0x01);
	pic_write(&pair, MASTER + 1, 0x00);
	assert_int_equal(pic_pending(&pair), 0x30);
	/* The cascade's mask holds the second chip back. */
	pulse(&pair, 9);
	pic_write(&pair, MASTER + 1, 0x05);
	assert_int_equal(pic_pending(&pair), -1);
	assert_int_equal(read_requests(&pair, MASTER), 0x05);
	pic_write(&pair, MASTER + 1, 0x01);
	assert_int_equal(pic_pending(&pair), 0x39);
}

static void the_more_urgent_line_nests(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pulse(&pair, 4);
	assert_int_equal(pic_acknowledge(&pair), 0x34);
	pulse(&pair, 6);
	assert_int_equal(pic_pending(&pair), -1);
	pulse(&pair, 1);
	assert_int_equal(pic_acknowledge(&pair), 0x31);
	assert_int_equal(read_service(&pair, MASTER), 0x12);
	/* The first EOI ends line 1, the second line 4. */
	pic_write(&pair, MASTER, 0x20);
	assert_int_equal(read_service(&pair, MASTER), 0x10);
	assert_int_equal(pic_pending(&pair), -1);
	pic_write(&pair, MASTER, 0x20);
	assert_int_equal(pic_pending(&pair), 0x36);
}

static void the_second_chip_ranks_as_line_2(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pulse(&pair, 3);
	pulse(&pair, 14);
	pulse(&pair, 8);
	assert_int_equal(pic_acknowledge(&pair), 0x38);
	assert_int_equal(read_service(&pair, MASTER), 0x04);
	assert_int_equal(read_service(&pair, SLAVE), 0x01);
	/* Both chips want an EOI. */
	pic_write(&pair, SLAVE, 0x60);
	assert_int_equal(pic_pending(&pair), -1);
	pic_write(&pair, MASTER, 0x62);
	assert_int_equal(pic_acknowledge(&pair), 0x3e);
	pic_write(&pair, SLAVE, 0x20);
	pic_write(&pair, MASTER, 0x20);
	assert_int_equal(pic_acknowledge(&pair), 0x33);
}

static void a_lost_request_is_spurious(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	assert_int_equal(pic_acknowledge(&pair), 0x37);
	assert_int_equal(read_service(&pair, MASTER), 0);
	/* A masked request; it stays for later. */
	pulse(&pair, 10);
	pic_write(&pair, SLAVE + 1, 0x04);
	assert_int_equal(pic_acknowledge(&pair), 0x37);
	assert_int_equal(read_service(&pair, SLAVE), 0);
	assert_int_equal(read_requests(&pair, SLAVE), 0x04);
}

static void automatic_eoi_leaves_nothing_in_service(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	initialise_chip(&pair, MASTER, 0x30, 0x03);
	pulse(&pair, 1);
	pulse(&pair, 6);
	assert_int_equal(pic_acknowledge(&pair), 0x31);
	assert_int_equal(read_service(&pair, MASTER), 0);
	assert_int_equal(pic_acknowledge(&pair), 0x36);
}

static void an_eoi_of_nothing_does_nothing(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pic_write(&pair, MASTER, 0x20);
	pulse(&pair, 7);
	pulse(&pair, 0);
	assert_int_equal(pic_acknowledge(&pair), 0x30);
}

static void initialising_again_forgets(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pic_write(&pair, MASTER + 1, 0xff);
	pulse(&pair, 3);
	initialise_chip(&pair, MASTER, 0x50, 0x01);
	assert_int_equal(pic_read(&pair, MASTER + 1), 0);
	assert_int_equal(pic_pending(&pair), -1);
	pulse(&pair, 3);
	assert_int_equal(pic_pending(&pair), 0x53);
	/* The low three bits of ICW2 belong to the line. */
	initialise_chip(&pair, MASTER, 0x57, 0x01);
	pulse(&pair, 1);
	assert_int_equal(pic_pending(&pair), 0x51);
}

static void other_ports_are_nobody(void **state)
{
	struct pic_pair pair = initialised();

	(void)state;
	pic_write(&pair, 0x22, 0x11);
	pic_write(&pair, 0x4d0, 0x11);
	assert_int_equal(pic_read(&pair, 0x22), 0xff);
	assert_int_equal(pic_read(&pair, 0x4d0), 0xff);
	pulse(&pair, 1);
	assert_int_equal(pic_pending(&pair), 0x31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_before_initialisation),
		cmocka_unit_test(every_line_has_its_vector),
		cmocka_unit_test(an_edge_counts_once),
		cmocka_unit_test(an_edge_while_in_service_is_kept),
		cmocka_unit_test(masks_hold_back_and_keep),
		cmocka_unit_test(the_more_urgent_line_nests),
		cmocka_unit_test(the_second_chip_ranks_as_line_2),
		cmocka_unit_test(a_lost_request_is_spurious),
		cmocka_unit_test(automatic_eoi_leaves_nothing_in_service),
		cmocka_unit_test(an_eoi_of_nothing_does_nothing),
		cmocka_unit_test(initialising_again_forgets),
		cmocka_unit_test(other_ports_are_nobody),
	};

	return RUN_TESTS(tests);
}
