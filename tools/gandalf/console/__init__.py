# SPDX-License-Identifier: Apache-2.0
"""The consoles of a machine that share a serial line, taken apart and shown."""
