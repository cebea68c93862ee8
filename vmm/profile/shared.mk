# SPDX-License-Identifier: Apache-2.0
# A Linux that shares its CPU with RTOSes, and neither manages them nor talks to them.
WITHOUT := dedicated strict_tls control channels cores
# Text and read-only data in KiB, at most.
BUDGET := 49
