# SPDX-License-Identifier: Apache-2.0
"""System descriptions: their model, what is checked in them, the table that they become."""
