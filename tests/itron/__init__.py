# SPDX-License-Identifier: Apache-2.0
"""The uITRON kernel: its conformance, its demo, its sizes and what its manual says."""
