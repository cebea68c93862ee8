/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FreeRTOS demo: how fast does a real-time task run beside Linux?
 *
 * `periodic`, the most urgent task, wakes every millisecond and takes the time
 * from the expiry that was programmed into the timer to its own first
 * instruction. It sends each figure through a queue to `measurement`, which
 * prints one line per second, cumulative and in cycles of the time stamp counter:
 *
 *	activations=N minimum=N mean=N p99.9=N maximum=N missed=N
 *
 * `missed` counts milliseconds in which `periodic` did not run. `console`
 * executes what is typed.
 *
 * The bench has a demo of its own (build/freertos/demo-anew.elf), whose figures
 * begin anew with each line, and which also prints their distribution:
 *
 *	latency=CYCLES count=N
 */
#include "FreeRTOS.h"
#include "commands.h"
#include "demo.h"
#include "print.h"
#include "queue.h"
#include "statistics.h"
#include "task.h"
#include "terminal.h"

#define PERIODIC_PRIORITY 5
#define MEASUREMENT_PRIORITY 3
#define CONSOLE_PRIORITY 2

#define PERIODIC_STACK 256
#define MEASUREMENT_STACK 512
#define CONSOLE_STACK 512

/* Ticks between two lines. */
#define LINE_PERIOD configTICK_RATE_HZ
/* For as many milliseconds the console may be full before figures are lost. */
#define QUEUE_LENGTH 1024

#ifndef DEMO_ANEW
#define DEMO_ANEW false
#endif

struct sample {
	uint32_t latency;
	uint32_t missed;
};

static QueueHandle_t samples;
static volatile uint32_t samples_lost;
static volatile bool reset_wanted;

/* From the last expiry of the timer to `now`. */
static uint32_t latency_find(uint64_t now)
{
	uint64_t expiry;

	interrupt_disable();
	expiry = shared_page->timer_expiry;
	interrupt_enable();
	/* The next expiry may have come since. */
	if (expiry > now)
		expiry -= time_ticks(1000000 / configTICK_RATE_HZ);
	return now - expiry > UINT32_MAX ? UINT32_MAX : (uint32_t)(now - expiry);
}

static void periodic_run(void *unused)
{
	TickType_t wake = xTaskGetTickCount();

	(void)unused;
	for (;;) {
		struct sample sample;
		TickType_t tick;
		uint64_t now;

		vTaskDelayUntil(&wake, 1);
		now = time_stamp();
		tick = xTaskGetTickCount();
		sample.latency = latency_find(now);
		sample.missed = tick - wake;
		wake = tick;
		if (xQueueSend(samples, &sample, 0) != pdPASS)
			samples_lost++;
	}
}

void measurement_reset(void)
{
	reset_wanted = true;
	while (reset_wanted)
		vTaskDelay(1);
}

static void measurement_print(const struct statistics *statistics)
{
	static uint32_t lost_before;

	if (statistics->activations)
		terminal_print("activations=%u minimum=%u mean=%u p99.9=%u maximum=%u missed=%u",
			       statistics->activations, statistics->minimum,
			       statistics_mean(statistics), statistics_percentile(statistics, 999),
			       statistics->maximum, statistics->missed);
	if (samples_lost != lost_before) {
		lost_before = samples_lost;
		terminal_print("The console was full for too long: %u figures are lost.",
			       lost_before);
	}
}

static void distribution_print(const struct statistics *statistics)
{
	for (uint32_t i = 0; i < STATISTICS_BUCKETS; i++)
		if (statistics->bucket[i])
			terminal_print("latency=%u count=%u", statistics_limit(i),
				       statistics->bucket[i]);
}

static void measurement_run(void *unused)
{
	static struct port_floating_point area;
	static struct statistics statistics;
	TickType_t line = LINE_PERIOD;
	struct sample sample;

	(void)unused;
	vPortTaskUsesFloatingPoint(&area);
	statistics_reset(&statistics);
	for (;;) {
		xQueueReceive(samples, &sample, portMAX_DELAY);
		if (reset_wanted) {
			statistics_reset(&statistics);
			reset_wanted = false;
			continue;
		}
		statistics_add(&statistics, sample.latency, sample.missed);
		if (xTaskGetTickCount() >= line) {
			measurement_print(&statistics);
			if (DEMO_ANEW) {
				distribution_print(&statistics);
				statistics_reset(&statistics);
			}
			line = (xTaskGetTickCount() / LINE_PERIOD + 1) * LINE_PERIOD;
		}
	}
}

static void console_run(void *unused)
{
	(void)unused;
	terminal_print("FreeRTOS %s on Gandalf, tick 1 ms, time stamp counter %u kHz",
		       tskKERNEL_VERSION_NUMBER, shared_page->tsc_khz);
	terminal_run(command_execute);
}

void vApplicationIdleHook(void)
{
	interrupt_wait();
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
	(void)task;
	console_wait = console_spin;
	print("stack overflow in task %s\n", name);
	__builtin_trap();
}

void assertion_failed(const char *file, unsigned int line)
{
	interrupt_disable();
	console_wait = console_spin;
	print("assertion failed: %s:%u\n", file, line);
	__builtin_trap();
}

void main(void)
{
	static StackType_t periodic_stack[PERIODIC_STACK];
	static StackType_t measurement_stack[MEASUREMENT_STACK];
	static StackType_t console_stack[CONSOLE_STACK];
	static StaticTask_t periodic, measurement, console;
	static StaticQueue_t queue;
	static uint8_t queue_storage[QUEUE_LENGTH * sizeof(struct sample)];

	terminal_init();
	float_task_init();
	samples = xQueueCreateStatic(QUEUE_LENGTH, sizeof(struct sample), queue_storage, &queue);
	xTaskCreateStatic(periodic_run, "periodic", PERIODIC_STACK, NULL, PERIODIC_PRIORITY,
			  periodic_stack, &periodic);
	xTaskCreateStatic(measurement_run, "measurement", MEASUREMENT_STACK, NULL,
			  MEASUREMENT_PRIORITY, measurement_stack, &measurement);
	xTaskCreateStatic(console_run, "console", CONSOLE_STACK, NULL, CONSOLE_PRIORITY,
			  console_stack, &console);
	vTaskStartScheduler();
}
