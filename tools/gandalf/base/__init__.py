# SPDX-License-Identifier: Apache-2.0
"""What every part of the tool stands on: where things are, the ABI, how TOML is read."""
