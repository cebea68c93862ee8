# SPDX-License-Identifier: Apache-2.0
# Everything that there is for one CPU.
WITHOUT := cores
# Text and read-only data in KiB, at most.
BUDGET := 52
