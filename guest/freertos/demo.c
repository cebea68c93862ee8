/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FreeRTOS demo, which measures how soon a real-time task runs beside Linux.
 *
 * `periodic`, the most urgent task, wakes every millisecond and takes the time from the expiry that
 * was programmed into the timer to its own first instruction. It sends each figure through a queue
 * to `measurement`, which prints a line per second. The line has all figures so far, in cycles of
 * the time stamp counter:
 *
 *	activations=N minimum=N mean=N p99.9=N maximum=N missed=N
 *
 * `missed` counts milliseconds in which `periodic` did not run. `console` executes what is typed.
 * If the guest has a channel there is a control task, too: motor.c, or setpoint.c in
 * build/freertos/demo-setpoint.elf.
 *
 * The bench has a demo of its own (build/freertos/demo-anew.elf). Its figures begin anew with each
 * line, and it prints their distribution, too:
 *
 *	latency=CYCLES count=N
 *
 * main.c starts these tasks alone. guest/web starts them beside a web server.
 */
#include "FreeRTOS.h"
#include "commands.h"
#include "control_task.h"
#include "demo.h"
#include "demo_tasks.h"
#include "port_channel.h"
#include "print.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "terminal.h"

#define PERIODIC_PRIORITY 5
#define MEASUREMENT_PRIORITY 3
#define CONTROL_PRIORITY 4
#define CONSOLE_PRIORITY 2
#define FLOAT_PRIORITY DEMO_BACKGROUND_PRIORITY

#define PERIODIC_STACK 256
#define MEASUREMENT_STACK 512
#define CONTROL_STACK 512
#define CONSOLE_STACK 512
#define FLOAT_STACK 768

/* The console may be full for so many milliseconds before figures are lost. */
#define QUEUE_LENGTH 1024

#ifndef DEMO_ANEW
#define DEMO_ANEW false
#endif

const bool measurement_anew = DEMO_ANEW;

static QueueHandle_t samples;
static SemaphoreHandle_t output_lock;
static TaskHandle_t console_task, float_task;
static struct port_channel channel;

/* --- What the shared part of the demo needs --- */

uint32_t os_time_stamp_khz(void)
{
	return shared_page->tsc_khz;
}

uint64_t os_timer_expiry(void)
{
	uint64_t expiry;

	interrupt_disable();
	expiry = shared_page->timer_expiry;
	interrupt_enable();
	return expiry;
}

uint32_t os_tick(void)
{
	return xTaskGetTickCount();
}

void os_tick_sleep(void)
{
	vTaskDelay(1);
}

void os_interrupts_disable(void)
{
	interrupt_disable();
}

void os_interrupts_enable(void)
{
	interrupt_enable();
}

void os_output_lock(void)
{
	xSemaphoreTake(output_lock, portMAX_DELAY);
}

void os_output_unlock(void)
{
	xSemaphoreGive(output_lock);
}

size_t os_console_read(char *to, size_t size)
{
	return console_read(to, size);
}

void os_key_wait(void)
{
	ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
}

bool os_channel_send(const char *from, uint32_t size)
{
	int32_t result = 1;

	for (uint32_t done = 0; done < size && result > 0; done += (uint32_t)result)
		result = lPortChannelSend(&channel, from + done, size - done, portMAX_DELAY);
	return result > 0;
}

bool os_channel_receive(char *to, uint32_t size)
{
	int32_t result = 1;

	for (uint32_t done = 0; done < size && result > 0; done += (uint32_t)result)
		result = lPortChannelReceive(&channel, to + done, size - done, portMAX_DELAY);
	/* The same task sends, so it need not be told of a new life a second time. */
	if (result <= 0)
		channel.sender = channel.receiver;
	return result > 0;
}

void os_float_task_wake(void)
{
	xTaskNotifyGive(float_task);
}

/* --- The tasks --- */

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
		sample = sample_take(now, tick - wake);
		wake = tick;
		if (xQueueSend(samples, &sample, 0) != pdPASS)
			measurement_lose();
	}
}

static void measurement_run(void *unused)
{
	static struct port_floating_point area;
	struct sample sample;

	(void)unused;
	vPortTaskUsesFloatingPoint(&area);
	for (;;) {
		xQueueReceive(samples, &sample, portMAX_DELAY);
		measurement_add(&sample);
	}
}

static void console_interrupt(void)
{
	BaseType_t switch_wanted = pdFALSE;

	vTaskNotifyGiveFromISR(console_task, &switch_wanted);
	portYIELD_FROM_ISR(switch_wanted);
}

/* Lets other tasks and other guests run while the VMM's buffer is full. */
static void console_wait_tick(void)
{
	if (xTaskGetSchedulerState() == taskSCHEDULER_RUNNING)
		vTaskDelay(1);
}

static void console_run(void *unused)
{
	(void)unused;
	terminal_print("FreeRTOS %s on Gandalf, tick 1 ms, time stamp counter %u kHz",
		       tskKERNEL_VERSION_NUMBER, shared_page->tsc_khz);
	terminal_run(command_execute);
}

static void control_task_run(void *unused)
{
	(void)unused;
	control_loop();
}

static void float_run(void *unused)
{
	static struct port_floating_point area;

	(void)unused;
	vPortTaskUsesFloatingPoint(&area);
	for (;;) {
		ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
		float_task_check();
	}
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

void demo_tasks_create(void)
{
	static StackType_t periodic_stack[PERIODIC_STACK];
	static StackType_t measurement_stack[MEASUREMENT_STACK];
	static StackType_t control_stack[CONTROL_STACK];
	static StackType_t console_stack[CONSOLE_STACK];
	static StackType_t float_stack[FLOAT_STACK];
	static StaticTask_t periodic, measurement, control, console, floating;
	static StaticSemaphore_t lock;
	static StaticQueue_t queue;
	static uint8_t queue_storage[QUEUE_LENGTH * sizeof(struct sample)];

	output_lock = xSemaphoreCreateMutexStatic(&lock);
	vPortSetInterruptHandler(GANDALF_VECTOR_CONSOLE, console_interrupt);
	console_wait = console_wait_tick;
	samples = xQueueCreateStatic(QUEUE_LENGTH, sizeof(struct sample), queue_storage, &queue);
	xTaskCreateStatic(periodic_run, "periodic", PERIODIC_STACK, NULL, PERIODIC_PRIORITY,
			  periodic_stack, &periodic);
	xTaskCreateStatic(measurement_run, "measurement", MEASUREMENT_STACK, NULL,
			  MEASUREMENT_PRIORITY, measurement_stack, &measurement);
	if (xPortChannelOpen(&channel, NULL))
		xTaskCreateStatic(control_task_run, "control", CONTROL_STACK, NULL,
				  CONTROL_PRIORITY, control_stack, &control);
	console_task = xTaskCreateStatic(console_run, "console", CONSOLE_STACK, NULL,
					 CONSOLE_PRIORITY, console_stack, &console);
	float_task = xTaskCreateStatic(float_run, "float", FLOAT_STACK, NULL, FLOAT_PRIORITY,
				       float_stack, &floating);
}
