# SPDX-License-Identifier: Apache-2.0
# RTOSes with memory that they share.
WITHOUT := linux control cores
# Text and read-only data in KiB, at most.
BUDGET := 28
