// SPDX-License-Identifier: MIT
// Meson compiles a header beforehand for a program: for this one.
int main() { return 0; }
