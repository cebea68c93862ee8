# SPDX-License-Identifier: Apache-2.0
"""The table of the sections that mask interrupts: compared with the VMM, and documented."""
