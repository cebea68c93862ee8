/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lwIP's interface to a network with another guest, and the task that runs lwIP. The doorbell gives
 * a semaphore, for which the task waits; it never polls. Whatever the other guest sends, the task
 * takes FRAMES_AT_ONCE frames before lwIP's times have their turn, and each frame is looked at only
 * when it has been copied. A frame for which lwIP has no memory, or the ring no room, is lost, as
 * on any wire.
 */
#include "network_interface.h"

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/sys.h"
#include "lwip/timeouts.h"
#include "netif/ethernet.h"
#include "network_link.h"
#include "port_channel.h"
#include "task.h"

#define FRAMES_AT_ONCE 32

static struct port_channel channel;
static struct network_link link;
static struct netif interface;
/* A frame on its way in or out; nothing is left in it. */
static uint8_t frame_bytes[GANDALF_NETWORK_FRAME];

u32_t sys_now(void)
{
	return xTaskGetTickCount() * portTICK_PERIOD_MS;
}

bool network_interface_send(const uint8_t *bytes, uint32_t size)
{
	return network_link_send(&link, bytes, size);
}

static err_t interface_output(struct netif *netif, struct pbuf *packet)
{
	(void)netif;
	if (packet->tot_len < GANDALF_NETWORK_HEADER || packet->tot_len > sizeof(frame_bytes))
		return ERR_ARG;
	pbuf_copy_partial(packet, frame_bytes, packet->tot_len, 0);
	return network_link_send(&link, frame_bytes, packet->tot_len) ? ERR_OK : ERR_MEM;
}

static err_t interface_prepare(struct netif *netif)
{
	const struct gandalf_channel_place *place = netif->state;

	netif->name[0] = 'g';
	netif->name[1] = 'n';
	netif->mtu = GANDALF_NETWORK_PAYLOAD;
	netif->hwaddr_len = ETH_HWADDR_LEN;
	network_address(place, netif->hwaddr);
	netif->output = etharp_output;
	netif->linkoutput = interface_output;
	netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
	return ERR_OK;
}

struct netif *network_interface_open(const ip4_addr_t *address)
{
	const struct gandalf_channel_place *place = pxPortNetworkOpen(&channel);
	ip4_addr_t mask, gateway = { 0 };

	if (!place)
		return NULL;
	lwip_init();
	network_link_start(&link, &channel.receiver);
	IP4_ADDR(&mask, 255, 255, 255, 0);
	netif_add(&interface, address, &mask, &gateway, (void *)place, interface_prepare,
		  ethernet_input);
	netif_set_default(&interface);
	netif_set_up(&interface);
	return &interface;
}

static void interface_take(uint32_t size)
{
	struct pbuf *packet = pbuf_alloc(PBUF_RAW, (u16_t)size, PBUF_POOL);

	if (!packet)
		return;
	if (pbuf_take(packet, frame_bytes, (u16_t)size) != ERR_OK ||
	    interface.input(packet, &interface) != ERR_OK)
		pbuf_free(packet);
}

/* The link's callback tells the application. */
static void interface_carrier_follow(void)
{
	bool carrier = network_link_carrier(&link);

	if (carrier && !netif_is_link_up(&interface))
		netif_set_link_up(&interface);
	else if (!carrier && netif_is_link_up(&interface))
		netif_set_link_down(&interface);
}

/* Takes what has come, then rings the other guest once if it has asked for it. Returns whether
 * there may be more. */
static bool interface_serve(void)
{
	uint32_t done = 0, size;

	while (done < FRAMES_AT_ONCE && (size = network_link_receive(&link, frame_bytes)) > 0) {
		interface_carrier_follow();
		interface_take(size);
		done++;
	}
	interface_carrier_follow();
	/* lwIP tries again what it has kept; it would do so in its own time, too. */
	if (network_link_emptied(&link))
		tcp_txnow();
	if (network_link_rings(&link))
		hypercall(GANDALF_HYPERCALL_DOORBELL, channel.peer, 0);
	return done > 0;
}

/* Returns how long nothing is to be done unless the doorbell rings. */
static TickType_t interface_pause(void)
{
	u32_t milliseconds = sys_timeouts_sleeptime();

	return milliseconds == SYS_TIMEOUTS_SLEEPTIME_INFINITE ? portMAX_DELAY :
								 pdMS_TO_TICKS(milliseconds);
}

void network_interface_run(void (*work)(void))
{
	for (;;) {
		sys_check_timeouts();
		work();
		if (interface_serve())
			continue;
		network_link_want(&link);
		if (!interface_serve())
			xSemaphoreTake(channel.received, interface_pause());
	}
}

void network_interface_wake(void)
{
	xSemaphoreGive(channel.received);
}
