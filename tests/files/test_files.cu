// SPDX-License-Identifier: MIT
// test_files.cu: the tests of samples/files as nvcc compiles them, in one program.
#include "files/files_check.h"
#include "../samples/files/frames.h"
#include "../samples/files/heights.h"
#include "../samples/files/state.h"

#include <math.h>

namespace test_frames {
#include "test_frames.c"
}
namespace test_heights {
#include "test_heights.c"
}
namespace test_input {
#include "test_input.c"
}
namespace test_state {
#include "test_state.c"
}

int main(int count, char **words) {
    return test_frames::main() | test_heights::main(count, words) | test_input::main() |
           test_state::main(count, words);
}
