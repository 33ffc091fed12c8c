# SPDX-License-Identifier: MIT
import os

from conan import ConanFile
from conan.tools.cmake import CMake
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout


class ThreadmapConan(ConanFile):
    name = "threadmap"
    license = "MIT"
    author = "threadmap contributors"
    description = "GPU thread maps and engines for domains that are not boxes, as CUDA C headers"
    topics = ("cuda", "gpu", "fractal", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "include/*", "CMakeLists.txt", "LICENSE"
    generators = "CMakeToolchain"
    no_copy_source = True

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include/threadmap/version.h"))
        self.version = self.version or ".".join(
            line.split()[2] for line in header.splitlines()
            if line.startswith("#define TMAP_VERSION_") and line.split()[2:3] and
            line.split()[2].isdigit())

    def layout(self):
        basic_layout(self)

    def package_id(self):
        self.info.clear()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "threadmap")
        self.cpp_info.set_property("cmake_target_name", "threadmap::threadmap")
