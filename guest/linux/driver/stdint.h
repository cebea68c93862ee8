/* SPDX-License-Identifier: GPL-2.0-only */
/* What abi/ includes: the kernel has these types under another name. */
#include <linux/types.h>
