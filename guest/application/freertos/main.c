/* SPDX-License-Identifier: 0BSD */
/*
 * An application for FreeRTOS: one task sends a number each second, another prints it.
 */
#include "FreeRTOS.h"
#include "print.h"
#include "queue.h"
#include "task.h"

static QueueHandle_t beats;

static void beat_run(void *parameters)
{
	TickType_t wake = xTaskGetTickCount();

	(void)parameters;
	for (uint32_t beat = 1;; beat++) {
		xTaskDelayUntil(&wake, pdMS_TO_TICKS(1000));
		xQueueSend(beats, &beat, portMAX_DELAY);
	}
}

static void print_run(void *parameters)
{
	uint32_t beat;

	(void)parameters;
	for (;;) {
		xQueueReceive(beats, &beat, portMAX_DELAY);
		print("beat %u\n", beat);
	}
}

/* Guests of lower priority run when no task of this one is ready. */
void vApplicationIdleHook(void)
{
	interrupt_wait();
}

/* The VMM reports the undefined instruction, and `gandalf run` the lines that led to it. */
void failure(const char *what, const char *where, unsigned int line)
{
	interrupt_disable();
	print("%s: %s:%u\n", what, where, line);
	__builtin_trap();
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
	(void)task;
	failure("stack overflow", name, 0);
}

void main(void)
{
	beats = xQueueCreate(8, sizeof(uint32_t));
	configASSERT(beats);
	configASSERT(xTaskCreate(beat_run, "beat", 256, NULL, 3, NULL) == pdPASS);
	configASSERT(xTaskCreate(print_run, "print", 512, NULL, 2, NULL) == pdPASS);
	vTaskStartScheduler();
}
