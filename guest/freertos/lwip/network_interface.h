/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lwIP on this guest's network with another guest. One task of FreeRTOS runs lwIP, the interface's
 * driver and, as lwIP's callbacks, the application.
 */
#ifndef NETWORK_INTERFACE_H
#define NETWORK_INTERFACE_H

#include "lwip/ip4_addr.h"
#include "lwip/netif.h"

/*
 * Opens the guest's first network, with an address of it and 24 bits of those of its net. It must
 * be called before the scheduler starts. Returns NULL if the guest has no network.
 */
struct netif *network_interface_open(const ip4_addr_t *address);

/* Is the task of the network. It waits for the doorbell and for lwIP's times, and calls work() each
 * time that it has woken. */
void network_interface_run(void (*work)(void)) __attribute__((noreturn));

/* Wakes that task; called from others. */
void network_interface_wake(void);

/* Sends bytes as a frame, whatever they are. It is called from the task of the network. */
bool network_interface_send(const uint8_t *bytes, uint32_t size);

#endif
