# SPDX-License-Identifier: Apache-2.0
"""Drives the VMM to its limits: interrupts at every boundary, hostile programs."""
