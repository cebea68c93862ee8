# SPDX-License-Identifier: Apache-2.0
# Several CPUs, none of which a Linux has to itself.
WITHOUT := dedicated
# Text and read-only data in KiB, at most.
BUDGET := 64
