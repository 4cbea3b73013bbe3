// SPDX-License-Identifier: Apache-2.0
// Names of kernels, the compiler's report, the table of GPUs, and predictions by hand.
#include "bench/cuda-model/kernel_names.h"
#include "bench/cuda-model/ptxas.h"
#include "bench/cuda-model/roofline.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

static void expect_name(const char* symbol, const char* name) {
    char text[MODEL_NAME];
    cr_expect(eq(str, (char*)model_kernel_name(symbol, text, sizeof text), (char*)name));
}

Test(model_report, names_of_kernels_are_the_same_from_symbols_and_from_tags) {
    expect_name("_Z13finish_bodies12mabd_cpu_simPdi", "finish_bodies");
    expect_name("_ZN9mabd_exec3tagIXadL_ZL13finish_bodies12mabd_cpu_simP7countediEEEE",
                "finish_bodies");
    expect_name("N9mabd_exec3tagIXadL_ZL13finish_bodies12mabd_cpu_simP7countediEEEE",
                "finish_bodies");
    expect_name("_Z13update_bodiesIL14mabd_body_kind3EEv12mabd_cpu_simiPKiPdS4_",
                "update_bodies<3>");
    expect_name("N9mabd_exec3tagIXadL_ZL13update_bodiesIL14mabd_body_kind3EEv12mabd_cpu_simiPKiP7"
                "countedS6_EEEE",
                "update_bodies<3>");
    expect_name("_Z13chains_factorILi6EEv16mabd_cuda_chains", "chains_factor<6>");
    expect_name("plain", "plain");
}

static const char REPORT[] =
    "a.h(158): warning #1675-D: unrecognized GCC pragma\n"
    "ptxas info    : 272 bytes gmem, 16 bytes cmem[4]\n"
    "ptxas info    : Compiling entry function '_Z3twoILi2EEvPd' for 'sm_80'\n"
    "ptxas info    : Function properties for _Z3twoILi2EEvPd\n"
    "    496 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 106 registers, used 1 barriers, 512 bytes cumulative stack size, 3072 "
    "bytes smem, 1128 bytes cmem[0], 376 bytes cmem[2]\n"
    "ptxas info    : Function properties for _Z6calledv\n"
    "    8 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads\n"
    "ptxas info    : Compiling entry function '_Z3onePd' for 'sm_120'\n"
    "ptxas info    : Function properties for _Z3onePd\n"
    "    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
    "ptxas info    : Used 18 registers, used 0 barriers\n";

static const char ASSEMBLY[] = ".visible .entry _Z3twoILi2EEvPd(\n\t.param .u64 a\n)\n.maxntid 64\n"
                               ".minnctapersm 1\n{\n}\n.visible .entry _Z3onePd(\n)\n{\n}\n";

static FILE* file_of(const char* text) {
    FILE* file = tmpfile();
    cr_assert_not_null(file);
    fputs(text, file);
    rewind(file);
    return file;
}

Test(model_report, of_the_compiler_is_read) {
    model_kernels kernels = {0};
    FILE *report = file_of(REPORT), *assembly = file_of(ASSEMBLY);
    cr_assert(model_report_read(report, &kernels));
    cr_assert(model_bounds_read(assembly, &kernels));
    model_kernels_sort(&kernels);
    cr_assert(eq(sz, kernels.count, 2));
    const model_kernel *one = &kernels.items[0], *two = &kernels.items[1];
    cr_expect(eq(str, (char*)one->name, "one"));
    cr_expect(eq(i32, one->architecture, 120));
    cr_expect(eq(i32, one->registers, 18));
    cr_expect(eq(i32, one->spill_stores, 8));
    cr_expect(eq(i32, one->spill_loads, 4));
    cr_expect(eq(i32, one->bound, 0));
    cr_expect(eq(i32, one->constant, -1));
    cr_expect(eq(str, (char*)two->name, "two<2>"));
    cr_expect(eq(i32, two->registers, 106));
    cr_expect(eq(i32, two->stack, 512));
    cr_expect(eq(i32, two->spill_stores, 24)); // of what it calls
    cr_expect(eq(i32, two->spill_loads, 16));
    cr_expect(eq(i32, two->shared, 3072));
    cr_expect(eq(i32, two->constant, 1128 + 376));
    cr_expect(eq(i32, two->bound, 64));
    cr_expect_null(model_kernel_find(&kernels, "one", 80));
    cr_expect(eq(ptr, (void*)model_kernel_find(&kernels, "one", 120), (void*)one));
    fclose(report), fclose(assembly);
    free(kernels.items);
}

// 1 TFLOP/s fused is 0.5e12 instructions a second; 10 of 100 multiprocessors have a tenth of that.
Test(model_report, predictions_by_hand) {
    const model_gpu gpu = {
        .sms = 100, .fp64 = 1e12, .memory = 1e12, .host = 1e10, .launch = 3e-6, .wait = 1e-5};
    const model_launch launches[] = {
        {.blocks = 200, .lanes = 1000000, .sectors_read = 1000000, .sectors_written = 500000},
        {.blocks = 10, .lanes = 1000000, .sectors_read = 10, .sectors_written = 10},
    };
    const model_counts counts = {.launch_count = 2,
                                 .launches = launches,
                                 .copies = 2,
                                 .copied_up = 6000,
                                 .copied_down = 4000,
                                 .waits = 1};
    double memory = 0, arithmetic = 0;
    model_predict_launch(&gpu, &launches[0], &memory, &arithmetic);
    cr_expect(epsilon_eq(dbl, memory, 48e-6, 1e-18));    // 48 MB
    cr_expect(epsilon_eq(dbl, arithmetic, 2e-6, 1e-18)); // hidden behind it
    model_predict_launch(&gpu, &launches[1], &memory, &arithmetic);
    cr_expect(epsilon_eq(dbl, arithmetic, 20e-6, 1e-18));
    const model_prediction p = model_predict(&gpu, &counts);
    cr_expect(epsilon_eq(dbl, p.memory, 48e-6, 1e-15));
    cr_expect(epsilon_eq(dbl, p.arithmetic, 20e-6, 1e-15));
    cr_expect(epsilon_eq(dbl, p.latency, 6e-6, 1e-15));
    cr_expect(epsilon_eq(dbl, p.host, 6e-6 + 1e-5 + 1e-6, 1e-15));
    cr_expect(epsilon_eq(dbl, p.total, 91e-6, 1e-15));
}

Test(model_report, gpus_have_all_figures_and_a_source) {
    model_gpu gpus[MODEL_GPUS_MAX];
    char message[256] = "";
    int32_t count = 0;
    cr_assert(
        model_gpus_read(MABD_SOURCE_DIR "/bench/gpus.csv", gpus, &count, message, sizeof message),
        "%s", message);
    cr_assert(le(i32, 3, count));
    for (int32_t i = 0; i < count; i++) {
        cr_expect(lt(sz, 20, strlen(gpus[i].source)), "%s", gpus[i].name);
        cr_expect(lt(dbl, 1e11, gpus[i].memory));
        cr_expect(lt(dbl, 1e12, gpus[i].fp64));
    }
    cr_expect_not(model_gpus_read(MABD_SOURCE_DIR "/bench/published.csv", gpus, &count, message,
                                  sizeof message));
    cr_expect_not_null(strstr(message, "published.csv:"), "%s", message);
    cr_expect_not(
        model_gpus_read(MABD_SOURCE_DIR "/bench/none.csv", gpus, &count, message, sizeof message));
}
