# SPDX-License-Identifier: MIT
vcpkg_from_git(
  OUT_SOURCE_PATH SOURCE_PATH
  URL URL-OF-THIS-REPOSITORY
  REF "v${VERSION}"
)
set(VCPKG_BUILD_TYPE release) # headers
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/threadmap)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
