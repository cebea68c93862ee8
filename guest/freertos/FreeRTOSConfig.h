/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the demo's FreeRTOS, which are FreeRTOS's own. All allocation is static, so that
 * the image needs what the linker says it needs.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE 256
#define configMAX_TASK_NAME_LEN 12
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configIDLE_SHOULD_YIELD 1
#define configUSE_MUTEXES 1
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_TIMERS 0
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configENABLE_BACKWARD_COMPATIBILITY 0

/* `gandalf trace` shows which task runs by these. */
#include "task_trace.h"
#define traceTASK_SWITCHED_IN() TASK_SWITCHED(pxCurrentTCB, pxCurrentTCB->pcTaskName)

#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_xTaskGetSchedulerState 1

/* Prints where it happened and stops the guest by an undefined instruction. */
void assertion_failed(const char *file, unsigned int line) __attribute__((noreturn));
#define configASSERT(condition) \
	do { \
		if (!(condition)) \
			assertion_failed(__FILE__, __LINE__); \
	} while (0)

#endif
