# SPDX-License-Identifier: Apache-2.0
# A Linux that has the CPU to itself: no RTOS, and the real chips instead of virtual ones.
WITHOUT := rtos chips strict_tls control channels cores
# Text and read-only data in KiB, at most.
BUDGET := 40
