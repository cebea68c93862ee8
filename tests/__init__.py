# SPDX-License-Identifier: Apache-2.0
"""The tests, as one package: a module has one name, whoever imports it.

Otherwise pytest would import those of tests/boot a second time beside what tests/conftest.py sets.
"""
