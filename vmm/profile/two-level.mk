# SPDX-License-Identifier: Apache-2.0
# This profile is for guests where the CPU has two levels of privilege: the VMM alone is privileged.
# Two views of each address space keep a Linux's kernel from its processes, and an RTOS has an
# address space of its own.
WITHOUT := dedicated strict_tls cores smp screen
# The most KiB of text and read-only data.
BUDGET := 56
