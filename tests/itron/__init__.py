# SPDX-License-Identifier: Apache-2.0
"""The uITRON kernel: its rules, its demo, its sizes and what its manual says."""
