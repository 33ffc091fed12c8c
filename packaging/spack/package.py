# SPDX-License-Identifier: MIT
from spack.package import *


class Threadmap(CMakePackage):
    """GPU thread maps and engines for domains that are not boxes, as CUDA C headers."""

    homepage = "URL-OF-THIS-REPOSITORY"
    git = "URL-OF-THIS-REPOSITORY"
    license("MIT")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    depends_on("cmake@3.19:", type="build")
