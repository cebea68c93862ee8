/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which network each Ethernet address was last seen in. The frames themselves say so, and they may
 * say anything: the table has a fixed size, and an address takes the place of an older one.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdint.h>

#define ADDRESS_SIZE 6
#define TABLE_UNKNOWN 0xffffffffu

/* Notes that an address is in a network, unless it is one for many. */
void table_learn(const uint8_t address[ADDRESS_SIZE], uint32_t port);
/* Returns the network that an address is in; TABLE_UNKNOWN for one that was not seen, or is for
 * many. */
uint32_t table_find(const uint8_t address[ADDRESS_SIZE]);
/* Forgets the addresses of a network whose guest has ended. */
void table_forget(uint32_t port);

#endif
