// SPDX-License-Identifier: Apache-2.0
// Nets and loops on a device, to be run under ThreadSanitizer: every kernel of cuda/dual/nets.cu
// and cuda/dual/loops.cu, with slots of one width and of several. The exit code is always 0; ctest
// reads its reports.
#include "cuda/dual/loops.h"
#include "cuda/dual/nets.h"

#include "cuda/dual_rig.h"

static const int32_t first[] = {0};

static void run_nets(dual_graph graph, bool sweeps_only) {
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_dual_goal goal = {(mabd_real)1e-6, 2};
    dual_case c = dual_case_make(graph, 0, 12, 1, 1);
    mabd_dual_report report;
    mabd_error error = {0};
    mabd_cuda_nets nets;
    dual_rig_must(MABD_CUDA(dual_pcg).plan(c.plan, 1, first, &allocator, &nets, &error), &error);
    dual_rig rig = dual_rig_open(c.plan, MABD_CUDA(dual_pcg).layout, &nets);
    dual_rig_must(MABD_CUDA(dual_pcg).upload(&nets, &rig.device, &error), &error);
    dual_rig_load(&rig, &c);
    dual_rig_must(MABD_CUDA(dual_pcg).factor(&nets, &rig.device, &rig.system, rig.bad, &error),
                  &error);
    const mabd_cuda_dual_ops* ops = sweeps_only ? &MABD_CUDA(dual_gs) : &MABD_CUDA(dual_pcg);
    dual_rig_must(ops->solve(&nets, &rig.device, &rig.system, &goal, &report, &error), &error);
    dual_rig_fetch(&rig, &c);
    printf("%d slots, %d colours, %d iterations, residual %.1e, backward error %.1e\n",
           c.system.slot_count, nets.color_count, report.iterations, (double)report.residual,
           dual_case_backward_error(&c));
    MABD_CUDA(dual_pcg).release(&allocator, &nets);
    dual_rig_close(&rig);
    dual_case_free(&c);
}

static void run_loops(dual_graph graph) {
    const mabd_allocator allocator = mabd_default_allocator();
    dual_case c = dual_case_make(graph, 0, 12, 1, 1);
    mabd_error error = {0};
    mabd_cuda_loops loops;
    dual_rig_must(MABD_CUDA(dual_loops).plan(c.plan, 1, first, &allocator, &loops, &error), &error);
    dual_rig rig = dual_rig_open(c.plan, MABD_CUDA(dual_loops).layout, &loops);
    dual_rig_must(MABD_CUDA(dual_loops).upload(&loops, &rig.device, &error), &error);
    dual_rig_load(&rig, &c);
    dual_rig_must(MABD_CUDA(dual_loops).factor(&loops, &rig.device, &rig.system, rig.bad, &error),
                  &error);
    dual_rig_must(MABD_CUDA(dual_loops).solve(&loops, &rig.device, &rig.system, NULL, NULL, &error),
                  &error);
    dual_rig_fetch(&rig, &c);
    printf("%d slots, %d cut rows, backward error %.1e\n", c.system.slot_count,
           c.plan->components[0].cut_rows, dual_case_backward_error(&c));
    MABD_CUDA(dual_loops).release(&allocator, &loops);
    dual_rig_close(&rig);
    dual_case_free(&c);
}

int main(void) {
    run_nets(dual_graph_net(5, 6, 3, 1), false);
    run_nets(dual_graph_net(2, 20, 0, 1), true);
    run_nets(dual_graph_net(13, 12, 1, 1), false); // two parts
    run_loops(dual_graph_ring(9, 5, 1));
    run_loops(dual_graph_net(3, 4, 0, 1));
    printf("done\n");
    return 0;
}
