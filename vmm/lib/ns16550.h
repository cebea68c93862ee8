/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the registers of a 16550A UART, as distances from its first port, and their bits. The real
 * UART and the virtual one share these numbers. Source: National Semiconductor PC16550D data sheet.
 */
#pragma once

enum {
	UART_DATA, UART_INTERRUPT_ENABLE,
	UART_FIFO_CONTROL, /* when read: the cause of the interrupt */
	UART_LINE_CONTROL, UART_MODEM_CONTROL, UART_LINE_STATUS, UART_MODEM_STATUS, UART_SCRATCH,
	UART_REGISTERS
};

#define IER_RECEIVE 0x01
#define IER_TRANSMIT 0x02
#define IIR_FIFOS 0xc0
#define LCR_DIVISOR 0x80
