// SPDX-License-Identifier: MIT
// test_files.cu: samples/files as nvcc compiles it, run by files_test.py.
#include "test_files.c"
