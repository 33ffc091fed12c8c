# SPDX-License-Identifier: MIT
"""What plot.py is made of: results, tables and pictures, by domain."""
