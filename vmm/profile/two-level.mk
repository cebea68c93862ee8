# SPDX-License-Identifier: Apache-2.0
# This profile is for a Linux where the CPU has two levels of privilege: the VMM alone is privileged,
# and two views of each address space keep the guest's kernel from its processes.
WITHOUT := rtos dedicated strict_tls control channels cores smp
# The most KiB of text and read-only data.
BUDGET := 56
