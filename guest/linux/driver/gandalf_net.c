// SPDX-License-Identifier: GPL-2.0-only
/*
 * An Ethernet interface for each network that this Linux has with another guest (network_end.h). It
 * has the network's name. The carrier is there while the other guest has said that it receives.
 *
 * Frames are received by NAPI: the doorbell only schedules the poll, and while there is anything to
 * poll the other guest is not asked to ring. It is rung likewise for the last of several frames.
 * Each frame is copied out of the shared memory before anyone looks at it.
 */
#include <linux/etherdevice.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/string.h>

#include "doorbell.h"
#include "network_end.h"
#include "on_gandalf.h"

struct network {
	struct net_device *device;
	struct napi_struct napi;
	/* Each knows the epoch for itself, since the two may be used on two CPUs at once: the
	 * receiver by whoever polls, the sender by whoever has the queue's lock. */
	struct channel_end receiver, sender;
	u32 peer;
	struct list_head others;
};

static LIST_HEAD(networks);

static irqreturn_t network_interrupt(int irq, void *unused)
{
	struct network *network;

	/* One that is not up has its NAPI disabled, and this does nothing. */
	list_for_each_entry(network, &networks, others)
		napi_schedule(&network->napi);
	return IRQ_HANDLED;
}

static void network_announce_alive(struct network *network, bool alive)
{
	network_announce(&network->receiver, alive);
	doorbell(network->peer);
}

/* Receives a frame. Returns its size, 0 if there is none, or an error of network_peek(); for
 * GANDALF_CHANNEL_RESET, this side is announced for the new epoch. */
static int32_t network_receive(struct network *network)
{
	struct net_device *device = network->device;
	struct network_frame frame;
	struct sk_buff *skb;
	u32 epoch = network->receiver.epoch;
	int32_t result = network_peek(&network->receiver, &frame);

	if (result > 0) {
		skb = napi_alloc_skb(&network->napi, frame.size);
		if (skb)
			channel_copy(skb_put(skb, frame.size), frame.bytes, frame.size);
		result = network_take(&network->receiver, &frame);
		if (skb && result > 0) {
			device->stats.rx_packets++;
			device->stats.rx_bytes += frame.size;
			skb->protocol = eth_type_trans(skb, device);
			napi_gro_receive(&network->napi, skb);
		} else {
			device->stats.rx_dropped++;
			dev_kfree_skb_any(skb);
		}
	}
	if (result != GANDALF_CHANNEL_RESET)
		return result;
	/* The other side may write any epoch to its index, which begins none. */
	if (network->receiver.epoch == epoch)
		return 0;
	network_announce_alive(network, true);
	return result;
}

/* Wakes the queue if there is room again. With the lock, since another CPU that sends could take
 * the room before the queue is woken, and the next frame would be lost. */
static void network_wake(struct network *network)
{
	netif_tx_lock(network->device);
	if (network_has_room(&network->sender))
		netif_wake_queue(network->device);
	netif_tx_unlock(network->device);
}

/* Brings the carrier to what the other side says, and the queue to what room there is. */
static void network_state(struct network *network, bool broken)
{
	struct net_device *device = network->device;
	bool alive = !broken && network_peer_alive(&network->receiver);

	if (broken)
		device->stats.rx_errors++;
	if (alive && !netif_carrier_ok(device))
		netif_carrier_on(device);
	else if (!alive && netif_carrier_ok(device))
		netif_carrier_off(device);
	if (netif_queue_stopped(device))
		network_wake(network);
}

/* Returns whether a poll would find something to do. Nonsense waits for the next epoch. Another CPU
 * may poll meanwhile, and learn of an epoch: then it looks once more itself. */
static bool network_pending(struct network *network)
{
	struct channel_end copy = network->receiver;
	struct network_frame frame;
	int32_t result = network_peek(&copy, &frame);

	if (result == GANDALF_CHANNEL_RESET)
		return copy.epoch != network->receiver.epoch;
	return result && result != GANDALF_CHANNEL_BROKEN;
}

static int network_poll(struct napi_struct *napi, int budget)
{
	struct network *network = container_of(napi, struct network, napi);
	int32_t result = 1;
	int done = 0;

	while (done < budget) {
		result = network_receive(network);
		if (!result || result == GANDALF_CHANNEL_BROKEN)
			break;
		done++;
	}
	if (done && network_rings(&network->receiver, true))
		doorbell(network->peer);
	network_state(network, result == GANDALF_CHANNEL_BROKEN);
	if (done < budget && napi_complete_done(napi, done)) {
		network_want(&network->receiver, false);
		if (network_pending(network))
			napi_schedule(napi);
	}
	return done;
}

/* Stops the queue if the next frame may not have room, until the other side rings. */
static void network_check_room(struct network *network)
{
	if (network_has_room(&network->sender))
		return;
	netif_stop_queue(network->device);
	network_want(&network->sender, true);
	if (network_has_room(&network->sender))
		netif_start_queue(network->device);
}

static netdev_tx_t network_transmit(struct sk_buff *skb, struct net_device *device)
{
	struct network *network = netdev_priv(device);
	int32_t result = GANDALF_CHANNEL_BROKEN;

	if (skb->len >= GANDALF_NETWORK_HEADER && skb->len <= GANDALF_NETWORK_FRAME)
		result = network_send(&network->sender, skb->data, skb->len);
	if (result == GANDALF_CHANNEL_RESET) /* the frame is the new epoch's first */
		result = network_send(&network->sender, skb->data, skb->len);
	if (result > 0) {
		device->stats.tx_packets++;
		device->stats.tx_bytes += skb->len;
	} else {
		device->stats.tx_dropped++;
	}
	network_check_room(network);
	if ((!netdev_xmit_more() || netif_queue_stopped(device)) &&
	    network_rings(&network->sender, false))
		doorbell(network->peer);
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

static int network_open(struct net_device *device)
{
	struct network *network = netdev_priv(device);

	netif_carrier_off(device);
	/* Before anyone polls: he may learn of an epoch, which an older one must not follow. */
	network_announce_alive(network, true);
	napi_enable(&network->napi);
	netif_start_queue(device);
	/* The first poll learns the epoch and the other side's state. */
	local_bh_disable();
	napi_schedule(&network->napi);
	local_bh_enable();
	return 0;
}

static int network_stop(struct net_device *device)
{
	struct network *network = netdev_priv(device);

	napi_disable(&network->napi); /* the last poll may wake the queue */
	netif_tx_disable(device);
	netif_carrier_off(device);
	network_announce_alive(network, false);
	return 0;
}

static const struct net_device_ops network_operations = {
	.ndo_open = network_open,
	.ndo_stop = network_stop,
	.ndo_start_xmit = network_transmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static int __init network_create(const struct gandalf_channel_place *place)
{
	struct net_device *device = alloc_etherdev(sizeof(struct network));
	void *memory = memremap(place->address, place->size, MEMREMAP_WB);
	struct network *network;
	u8 address[ETH_ALEN];
	int error = -ENOMEM;

	if (device && memory) {
		network = netdev_priv(device);
		network->device = device;
		network->peer = place->peer;
		channel_open(&network->receiver, memory, place);
		network->sender = network->receiver;
		strscpy(device->name, place->name + GANDALF_NETWORK_PREFIX_SIZE,
			sizeof(device->name));
		network_address(place, address);
		eth_hw_addr_set(device, address);
		device->netdev_ops = &network_operations;
		device->max_mtu = GANDALF_NETWORK_PAYLOAD;
		netif_napi_add(device, &network->napi, network_poll);
		netif_carrier_off(device);
		error = register_netdev(device);
	}
	if (!error) {
		list_add_tail(&network->others, &networks);
		return 0;
	}
	if (memory)
		memunmap(memory);
	if (device)
		free_netdev(device);
	return error;
}

static int __init network_init(void)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;
	int error = 0;

	if (!on_gandalf())
		return 0;
	for (u32 i = 0; !error && i < GANDALF_CHANNELS_MAXIMUM && shared->channels[i].name[0]; i++)
		if (network_is(&shared->channels[i]))
			error = network_create(&shared->channels[i]);
	if (error || list_empty(&networks))
		return error;
	return request_irq(GANDALF_DOORBELL_IRQ, network_interrupt, IRQF_SHARED, "gandalf-net",
			   &networks);
}
device_initcall(network_init);
