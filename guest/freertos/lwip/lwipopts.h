/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of lwIP on FreeRTOS, which are lwIP's own: IPv4 with TCP and ping, by its raw
 * interface. One task runs all of lwIP (network_interface.c), so there is nothing to lock, and a
 * task that is more urgent waits for none of it. All memory is static and has a bound.
 */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_STATS 0

#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_ARP 1
#define LWIP_ICMP 1
#define LWIP_TCP 1
#define LWIP_UDP 0
#define LWIP_RAW 0
#define LWIP_NETIF_LINK_CALLBACK 1
/* A network carries whole packets. Fragments would keep memory until a time is over. */
#define IP_REASSEMBLY 0
#define IP_FRAG 0

#define MEM_ALIGNMENT 4
#define MEM_SIZE 16384
/* Each has room for the largest frame. */
#define PBUF_POOL_SIZE 24
#define PBUF_POOL_BUFSIZE 1520
#define MEMP_NUM_PBUF 32
/* Further than the connections that an application serves at once: those that were closed linger
 * here, and the oldest of them makes room. */
#define MEMP_NUM_TCP_PCB 12
/* An application with more ports says so to the compiler. */
#ifndef MEMP_NUM_TCP_PCB_LISTEN
#define MEMP_NUM_TCP_PCB_LISTEN 2
#endif
#define MEMP_NUM_TCP_SEG 64

#define TCP_MSS 1460
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
/* Frames come in order here; those of a hostile guest are not to be kept. */
#define TCP_QUEUE_OOSEQ 0
#define TCP_LISTEN_BACKLOG 1

#endif
