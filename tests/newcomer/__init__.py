# SPDX-License-Identifier: Apache-2.0
"""What a person meets who has just cloned the tree: `make run` on a terminal."""
