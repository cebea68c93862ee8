/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FreeRTOS demo with a web server, which shows the demo's latencies at http://10.0.0.2/, and as
 * JSON at /latency.json. lwIP and the server are one task, the least urgent of all. So `periodic`
 * preempts them at any instruction; the figures are copied without a lock (measurement_copy()).
 */
#include "FreeRTOS.h"
#include "demo.h"
#include "demo_tasks.h"
#include "network_interface.h"
#include "page.h"
#include "server.h"
#include "task.h"
#include "terminal.h"

#define WEB_STACK 2048

_Static_assert(PAGE_MAXIMUM <= SERVER_CONTENT_MAXIMUM, "a page has room in an answer");

static struct netif *interface;
static bool tell;
static struct statistics statistics; /* of the last request */

static uint32_t write_html(char *to)
{
	measurement_copy(&statistics);
	return page_write_html(to, &statistics, os_time_stamp_khz());
}

static uint32_t write_json(char *to)
{
	measurement_copy(&statistics);
	return page_write_json(to, &statistics, os_time_stamp_khz());
}

static const struct server_content contents[] = {
	{ "/", "text/html; charset=utf-8", write_html },
	{ "/latency.json", "application/json", write_json },
	{ 0 },
};

/* Connections do not outlive the carrier: mostly the other guest has ended. */
static void link_changed(struct netif *netif)
{
	tell = true;
	if (!netif_is_link_up(netif))
		server_abandon();
}

/* Tells of the carrier outside of lwIP, since the console may be full. */
static void web_work(void)
{
	if (!tell)
		return;
	tell = false;
	terminal_print("web: the network is %s", netif_is_link_up(interface) ? "up" : "down");
}

static void web_run(void *unused)
{
	static struct port_floating_point area;

	(void)unused;
	vPortTaskUsesFloatingPoint(&area);
	network_interface_run(web_work);
}

/* Returns whether there is a network on which to serve. */
static bool web_open(void)
{
	ip4_addr_t address;

	IP4_ADDR(&address, 10, 0, 0, 2);
	interface = network_interface_open(&address);
	if (!interface || !server_start(contents))
		return false;
	netif_set_link_callback(interface, link_changed);
	return true;
}

void main(void)
{
	static StackType_t web_stack[WEB_STACK];
	static StaticTask_t web;

	demo_tasks_create();
	if (web_open())
		xTaskCreateStatic(web_run, "web", WEB_STACK, NULL, DEMO_BACKGROUND_PRIORITY,
				  web_stack, &web);
	else
		print("web: this guest has no network\n");
	vTaskStartScheduler();
}
