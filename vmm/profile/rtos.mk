# SPDX-License-Identifier: Apache-2.0
# RTOSes alone.
WITHOUT := linux control channels cores
# Text and read-only data in KiB, at most.
BUDGET := 27
