# SPDX-License-Identifier: Apache-2.0
"""What cores say to each other, as a model."""
