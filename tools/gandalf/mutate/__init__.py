# SPDX-License-Identifier: Apache-2.0
"""Changes the VMM at random and counts what the unit tests notice."""
