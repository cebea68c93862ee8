# SPDX-License-Identifier: Apache-2.0
# Everything that there is.
WITHOUT :=
# Text and read-only data in KiB, at most.
BUDGET := 64
