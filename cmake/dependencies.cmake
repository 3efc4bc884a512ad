# SPDX-License-Identifier: Apache-2.0
# The libraries kbgate links. The packages that bring them: deploy/packages.txt.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(H2O REQUIRED IMPORTED_TARGET libh2o-evloop)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto libssl)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XML REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(JWT REQUIRED IMPORTED_TARGET libjwt)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)

# These two ship no pkg-config file that names the header's folder.
find_library(STEMMER_LIBRARY stemmer REQUIRED)
find_library(MD4C_LIBRARY md4c REQUIRED)
add_library(kb_stemmer INTERFACE)
target_link_libraries(kb_stemmer INTERFACE ${STEMMER_LIBRARY})
add_library(kb_md4c INTERFACE)
target_link_libraries(kb_md4c INTERFACE ${MD4C_LIBRARY})
