# Warnings are errors. Contraction is off: scalar code, SIMD and every number of threads give the
# same bits.
add_library(mabd_warnings INTERFACE)
target_compile_options(mabd_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wmissing-prototypes -Wshadow -Wconversion -Wno-sign-conversion -Werror)
add_compile_options(-ffp-contract=off)
# Neither errno nor floating-point traps are read anywhere; results are the same bits without them.
add_compile_options(-fno-math-errno -fno-trapping-math)
# POSIX for files and clocks (fsync, rename, clock_gettime); the language stays C17.
add_compile_definitions(_POSIX_C_SOURCE=200809L)

# With the code of the sanitizers gcc reports variables that are set; the release build keeps the
# warning.
if(MABD_SANITIZE OR MABD_TSAN)
    add_compile_options(-Wno-maybe-uninitialized)
endif()
if(MABD_SANITIZE)
    # Undefined behaviour ends the program by a trap, which AddressSanitizer reports with its place
    # (handle_sigill). Messages would be 700,000 pointers in the library, relocated in each of the
    # thousands of processes of the tests, and longer to compile.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
        -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
    # 150 programs against one large library: other linkers take a fifth of the time.
    include(CheckLinkerFlag)
    check_linker_flag(C -fuse-ld=lld MABD_LINKS_BY_LLD)
    check_linker_flag(C -fuse-ld=gold MABD_LINKS_BY_GOLD)
    if(MABD_LINKS_BY_LLD)
        add_link_options(-fuse-ld=lld)
    elseif(MABD_LINKS_BY_GOLD)
        add_link_options(-fuse-ld=gold)
    endif()
endif()
if(MABD_TSAN)
    add_compile_options(-fsanitize=thread)
    add_link_options(-fsanitize=thread)
endif()

# Instruction sets beyond the compiler's default, for the stages
# (src/formulation/affine/cpu/isa_table.h). A simulation runs the widest one of the processor, under
# ThreadSanitizer too: that is the set that users run.
set(MABD_ISA_FLAGS_baseline)
set(MABD_ISA_FLAGS_avx2 -mavx2)
# gcc 12 makes one fused instruction of alternating sums and differences of products (vfmaddsub)
# although contraction is off, and so different bits: not among scalars of stages (no SLP). Loops
# that set a few lanes to zero stay loops: `rep stos`, which gcc makes of them, is slower.
set(MABD_ISA_FLAGS_avx512 -mavx2 -mavx512f -mavx512vl -mavx512dq -mprefer-vector-width=256
    -fno-tree-slp-vectorize -fno-tree-loop-distribute-patterns)
set(MABD_LANE_FLAGS_avx512 -mprefer-vector-width=512)
set(MABD_EXTRA_ISAS)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    include(CheckCCompilerFlag)
    check_c_compiler_flag("-mavx512f -mavx512vl -mavx512dq -mprefer-vector-width=256" MABD_KNOWS_AVX512)
    if(MABD_KNOWS_AVX512)
        set(MABD_EXTRA_ISAS avx2 avx512)
    endif()
endif()
