/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the <stdint.h> that abi/ includes. The kernel has its types in <linux/types.h>. */
#include <linux/types.h>
