# Installation: libraries, headers, command, scenes, man page, shell completion, and the files by
# which CMake (find_package) and pkg-config find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS mabd_shared EXPORT mabd_shared_targets)
install(TARGETS mabd_static EXPORT mabd_static_targets)
install(DIRECTORY include/mabd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mabd/scenes FILES_MATCHING PATTERN "*.json")

# The command with its man page and its completions for shells, which it prints itself.
if(TARGET mabd)
    install(TARGETS mabd)
endif()
if(TARGET mabd AND NOT CMAKE_CROSSCOMPILING AND NOT MABD_SANITIZE AND NOT MABD_TSAN)
    set(pages)
    # printed_page(FILE DIRECTORY OPTION...): what `mabd help OPTION...` prints, installed in
    # DIRECTORY
    function(printed_page file directory)
        set(path ${CMAKE_CURRENT_BINARY_DIR}/pages/${file})
        get_filename_component(folder ${path} DIRECTORY)
        file(MAKE_DIRECTORY ${folder})
        add_custom_command(OUTPUT ${path} COMMAND mabd help ${ARGN} > ${path} DEPENDS mabd VERBATIM)
        install(FILES ${path} DESTINATION ${directory})
        set(pages ${pages} ${path} PARENT_SCOPE)
    endfunction()
    printed_page(mabd.1 ${CMAKE_INSTALL_MANDIR}/man1 --man)
    printed_page(bash/mabd ${CMAKE_INSTALL_DATADIR}/bash-completion/completions --completion bash)
    printed_page(zsh/_mabd ${CMAKE_INSTALL_DATADIR}/zsh/site-functions --completion zsh)
    printed_page(fish/mabd.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d --completion fish)
    add_custom_target(mabd_pages ALL DEPENDS ${pages})
endif()

# find_package(mabd): mabd::mabd is the shared library, or the static one with COMPONENTS static.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mabd)
foreach(kind shared static)
    set_target_properties(mabd_${kind} PROPERTIES EXPORT_NAME ${kind})
    install(EXPORT mabd_${kind}_targets
        NAMESPACE mabd:: FILE mabd-${kind}-targets.cmake DESTINATION ${package_dir})
endforeach()
set(MABD_HAS_CUDA_BACKEND OFF)
if(TARGET mabd_kernels_cuda)
    set(MABD_HAS_CUDA_BACKEND ON)
endif()
configure_package_config_file(cmake/mabd-config.cmake.in mabd-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(mabd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mabd-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/mabd-config-version.cmake DESTINATION ${package_dir})

# pkg-config: paths relative to the file, so that the tree may be moved.
file(RELATIVE_PATH MABD_PC_PREFIX
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(MABD_PC_BACKENDS)
if(MABD_EXECUTOR OR MABD_HAS_CUDA_BACKEND)
    set(MABD_PC_BACKENDS "-lstdc++ -ldl")
endif()
if(MABD_HAS_CUDA_BACKEND)
    find_package(CUDAToolkit REQUIRED) # its variables in this scope
    string(APPEND MABD_PC_BACKENDS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
configure_file(cmake/mabd.pc.in mabd.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mabd.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
