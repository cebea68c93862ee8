# SPDX-License-Identifier: Apache-2.0
"""The SDK: applications outside of the tree, and what of the tree they are built with."""
