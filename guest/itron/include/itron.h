/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data types, error codes and constants that all parts of the uITRON 4.0
 * specification share; every name and value here is the specification's. The
 * service calls are in kernel.h.
 *
 * The kernel's folders:
 *
 *	include/	what an application includes: itron.h, kernel.h, board.h
 *	kernel/		the kernel, a file for each noun; knows no hardware
 *	port/gandalf/	the kernel on the Gandalf VMM: three hypercalls, timer, console
 *	port/native/	the same on a bare PC: boot, descriptor tables, 8259, 8254, COM1
 *	demo/		an application: a 1 ms task beside Linux
 *	channel/	what an application adds to talk to another guest
 *	motor/		an application that does: a control task
 *
 * docs/itron.md is the manual.
 */
#ifndef ITRON_H
#define ITRON_H

#include <stddef.h>
#include <stdint.h>

typedef int8_t B;
typedef int16_t H;
typedef int32_t W;
typedef int64_t D;
typedef uint8_t UB;
typedef uint16_t UH;
typedef uint32_t UW;
typedef uint64_t UD;
typedef char VB;
typedef int16_t VH;
typedef int32_t VW;
typedef int64_t VD;
typedef void *VP;
/* A program's address; each use says what it is called with. */
typedef void (*FP)(void);

typedef int INT;
typedef unsigned int UINT;
typedef int BOOL;
typedef INT FN;
typedef INT ER;
typedef INT ID;
typedef UINT ATR;
typedef UINT STAT;
typedef UINT MODE;
typedef INT PRI;
typedef size_t SIZE;
typedef W TMO;	   /* ms, TMO_POL or TMO_FEVR */
typedef UW RELTIM; /* ms, at most TMAX_RELTIM */
typedef UW SYSTIM; /* ms */
/* A pointer or a signed integer, whichever the application stores in it. */
typedef VP VP_INT;
typedef ER ER_BOOL;
typedef ER ER_ID;
typedef ER ER_UINT;

#define TRUE 1
#define FALSE 0

#define E_OK 0
#define E_SYS (-5)    /* system error */
#define E_NOSPT (-9)  /* unsupported function */
#define E_RSFN (-10)  /* reserved function code */
#define E_RSATR (-11) /* reserved attribute */
#define E_PAR (-17)   /* parameter error */
#define E_ID (-18)    /* ID outside of the range */
#define E_CTX (-25)   /* not from this context, or not in this state */
#define E_MACV (-26)  /* memory access violation */
#define E_OACV (-27)  /* object access violation */
#define E_ILUSE (-28) /* illegal use of a service call */
#define E_NOMEM (-33) /* insufficient memory */
#define E_NOID (-34)  /* no ID left */
#define E_OBJ (-41)   /* the object's state does not allow it */
#define E_NOEXS (-42) /* there is no object with this ID */
#define E_QOVR (-43)  /* a counter would overflow */
#define E_RLWAI (-49) /* released from waiting by rel_wai */
#define E_TMOUT (-50) /* polling failed, or time-out */
#define E_DLT (-51)   /* the object waited for was deleted */
#define E_CLS (-52)   /* its state changed while waiting */
#define E_WBLK (-57)  /* non-blocking call accepted */
#define E_BOVR (-58)  /* buffer overflow */

/* An error code has a main code in its lower 8 bits and a sub code above. */
#define MERCD(ercd) ((ER)(B)(ercd))
#define SERCD(ercd) ((ER)(ercd) >> 8)
#define ERCD(mercd, sercd) ((ER)(((UW)(sercd) << 8) | ((UW)(mercd) & 0xff)))

#define TA_NULL 0U
#define TMO_POL 0
#define TMO_FEVR (-1)
#define TMO_NBLK (-2)

#endif
