# SPDX-License-Identifier: Apache-2.0
# Compiler settings that hold for every target, and the helpers that declare one.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden) # libh2o exports un-prefixed names: ours must not interpose them
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(KB_TESTS "Build the tests" ON)
option(KB_WERROR "Turn warnings into errors" OFF)
option(KB_FUZZ "Build the libFuzzer targets (clang)" OFF)
set(KB_SANITIZE "" CACHE STRING "Value of -fsanitize= for every target")

add_compile_definitions(_GNU_SOURCE H2O_USE_EPOLL=1 KB_VERSION="${PROJECT_VERSION}")
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wswitch-enum -Wformat=2 -Wstrict-prototypes -Wvla
    -ffp-contract=off) # the same bytes on a CPU with and without fused multiply-add
if(KB_WERROR)
    add_compile_options(-Werror)
endif()
if(KB_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link) # coverage of our libraries guides the search
endif()
if(KB_SANITIZE)
    add_compile_options(-fsanitize=${KB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KB_SANITIZE})
endif()

# kb_sources(TARGET FOLDER): the folder's own .c files, none of its subfolders'.
function(kb_sources target folder)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.c")
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}")
endfunction()

# kb_library(NAME FOLDER [LINKS …]): target kb_NAME from FOLDER; LINKS name our folders or libraries.
function(kb_library name folder)
    cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
    add_library(kb_${name} STATIC)
    kb_sources(kb_${name} ${folder})
    foreach(link IN LISTS arg_LINKS)
        if(TARGET kb_${link})
            target_link_libraries(kb_${name} PUBLIC kb_${link})
        else()
            target_link_libraries(kb_${name} PUBLIC ${link})
        endif()
    endforeach()
endfunction()

# kb_embed(TARGET FILE …): the bytes of each FILE, as `const char NAME_EXT[]` with a NUL behind them (budget_take.lua:
# budget_take_lua). A header of the target's folder declares them. Made when CMake runs, which a changed FILE causes.
function(kb_embed target)
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${file}")
        get_filename_component(name "${file}" NAME)
        string(MAKE_C_IDENTIFIER "${name}" name)
        file(READ "${CMAKE_SOURCE_DIR}/${file}" bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        set(output "${CMAKE_BINARY_DIR}/embedded/${name}.c")
        file(CONFIGURE OUTPUT "${output}" CONTENT "extern const char ${name}[];\nconst char ${name}[] = {${bytes}0};\n")
        target_sources(${target} PRIVATE "${output}")
    endforeach()
endfunction()
