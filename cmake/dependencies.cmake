# Libraries from the distribution, gathered in one interface target.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
find_path(SUITESPARSE_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(OPENBLAS_LIBRARY openblas REQUIRED)

add_library(mabd_dependencies INTERFACE)
target_include_directories(mabd_dependencies SYSTEM INTERFACE ${SUITESPARSE_INCLUDE})
target_link_libraries(mabd_dependencies INTERFACE
    PkgConfig::JANSSON PkgConfig::HDF5 ${CHOLMOD_LIBRARY} ${OPENBLAS_LIBRARY}
    ZLIB::ZLIB Threads::Threads m)

if(MABD_TESTS)
    pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion)
    if(MABD_GPL)
        find_library(UMFPACK_LIBRARY umfpack REQUIRED)
    endif()
endif()
