# SPDX-License-Identifier: Apache-2.0
# format-check, format, tidy, cppcheck, include-check: what .ci/run calls and a newcomer can type.
file(GLOB_RECURSE KB_ALL_C CONFIGURE_DEPENDS
    "${CMAKE_SOURCE_DIR}/service/*.[ch]" "${CMAKE_SOURCE_DIR}/auth/*.[ch]" "${CMAKE_SOURCE_DIR}/scope/*.[ch]"
    "${CMAKE_SOURCE_DIR}/cache/*.[ch]" "${CMAKE_SOURCE_DIR}/tests/*.[ch]")
set(KB_PRODUCT_C ${KB_ALL_C})
list(FILTER KB_PRODUCT_C INCLUDE REGEX "\\.c$")
list(FILTER KB_PRODUCT_C EXCLUDE REGEX "/tests/")
add_custom_target(format-check COMMAND clang-format --dry-run -Werror ${KB_ALL_C} VERBATIM)
add_custom_target(format COMMAND clang-format -i ${KB_ALL_C} VERBATIM)
add_custom_target(tidy COMMAND run-clang-tidy -quiet -p "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}/(service|auth|scope|cache)/" VERBATIM)
add_custom_target(cppcheck COMMAND cppcheck --quiet --error-exitcode=1 --inline-suppr -j2
    --enable=warning,portability --std=c11 -I "${CMAKE_SOURCE_DIR}" -D_GNU_SOURCE -DH2O_USE_EPOLL=1
    --suppress=missingIncludeSystem ${KB_PRODUCT_C} VERBATIM)
add_custom_target(include-check COMMAND "${CMAKE_SOURCE_DIR}/.ci/include-check" VERBATIM)
