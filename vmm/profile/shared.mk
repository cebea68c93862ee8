# SPDX-License-Identifier: Apache-2.0
# This profile is for a Linux that shares its CPU with RTOSes, but neither manages them nor has
# channels with them.
WITHOUT := dedicated strict_tls control channels cores smp two_level screen
# The most KiB of text and read-only data.
BUDGET := 49
