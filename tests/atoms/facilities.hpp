#pragma once

#include <string_view>

#include "tilejit/target.hpp"

namespace tilejit::atoms {

inline constexpr const char* kTargets[] = {"sm_75",  "sm_80",   "sm_86",  "sm_89",
                                           "sm_90a", "sm_100a", "sm_120a"};

/// What a header of the tile library has besides products, and which targets have it. The page
/// docs/atoms.md and the tests that assemble it follow this table.
struct Facility {
  const char* name;    ///< an identifier
  const char* header;  ///< below tile/
  const char* what;    ///< for the page
  int first;           ///< compute capability
  bool specific;       ///< only architecture-specific targets: sm_90a, not sm_90
  bool clusters;       ///< not on sm_120a, whose clusters have one block
  const char* body;    ///< of a kernel that uses it; `s` is a shared address, `p` global memory
  const char* sass;    ///< what its machine code holds
};

inline constexpr Facility kFacilities[] = {
    {"load_matrices", "ldmatrix.cuh", "`load_matrices`: ldmatrix x1, x2, x4, transposed or not", 75,
     false, false,
     "u32 r[4]; load_matrices(r, s); u32 t[4]; load_matrices<4, true>(t, s);"
     "u32 r2[2]; load_matrices(r2, s); u32 t2[2]; load_matrices<2, true>(t2, s);"
     "u32 r1[1]; load_matrices(r1, s); u32 t1[1]; load_matrices<1, true>(t1, s);"
     "p[threadIdx.x] = r[3] + t[2] + r2[1] + t2[0] + r1[0] + t1[0];",
     "LDSM.16.M88.4 LDSM.16.MT88.4 LDSM.16.M88.2 LDSM.16.MT88.2 LDSM.16.M88 LDSM.16.MT88"},
    {"named_barrier", "named_barrier.cuh", "`named_barrier_sync`, `named_barrier_arrive`: bar", 75,
     false, false, "named_barrier_sync<1, 64>(); named_barrier_arrive<2, 128>();",
     "BAR.SYNC BAR.ARV"},
    {"async_copy", "async_copy.cuh",
     "`async_copy`, `async_copy_or_zero` of 4, 8 and 16 bytes, groups: cp.async", 80, false, false,
     "async_copy<4>(s, p); async_copy<8>(s, p); async_copy<16>(s, p); async_copy_commit();"
     "async_copy_or_zero<4>(s, p, 1); async_copy_or_zero<8>(s, p, 0);"
     "async_copy_or_zero<16>(s, p, u32(p[0])); async_copy_commit(); async_copy_wait<1>();"
     "async_copy_wait<0>();",
     "LDGSTS.E.LTC128B LDGSTS.E.LTC128B.64 LDGSTS.E.BYPASS.LTC128B.128 ZFILL LDGDEPBAR DEPBAR"},
    {"store_matrices", "ldmatrix.cuh", "`store_matrices`: stmatrix", 90, false, false,
     "const u32 r[4] = {1, 2, 3, 4}; store_matrices(s, r); store_matrices<4, true>(s, r);"
     "const u32 r2[2] = {1, 2}; store_matrices(s, r2); store_matrices<2, true>(s, r2);"
     "const u32 r1[1] = {1}; store_matrices(s, r1); store_matrices<1, true>(s, r1);",
     "STSM.16.M88.4 STSM.16.MT88.4 STSM.16.M88.2 STSM.16.MT88.2"},
    {"pipeline", "pipeline.cuh", "`Pipeline`, `PipelineState`, and mbarrier.cuh: mbarrier", 90,
     false, false,
     "Pipeline<3> ring{s}; PipelineState<3> at; if (threadIdx.x == 0) ring.init(1, 2);"
     "__syncthreads(); ring.acquire(at); ring.expect(at, 64); ring.wait(at); ring.release(at);"
     "ring.release_in_block(at, 1); at.advance(); ring.commit(at); ring.drain(at);"
     "mbarrier_arrive_after_copies(s);",
     "SYNCS.EXCH.64 SYNCS.PHASECHK SYNCS.ARRIVE ARRIVES.LDGSTSBAR"},
    {"tensor_map", "tensor_map.cuh",
     "`load_box`, `store_box`, `add_box`, `prefetch_box` of 1 to 5 dimensions, hints: "
     "cp.async.bulk.tensor",
     90, false, false,
     "const TensorMap& map = reinterpret_cast<const TensorMap&>(maps); prefetch_tensor_map(map);"
     "load_box(s, map, Box{1}, s); load_box(s, map, Box{1, 2}, s); load_box(s, map, Box{1, 2, 3}, "
     "s); load_box_hinted(s, map, Box{1, 2, 3, 4}, s, keep_in_l2());"
     "load_box_hinted(s, map, Box{1, 2, 3, 4, 5}, s, evict_first_from_l2());"
     "prefetch_box(map, Box{1, 2}); fence_async_proxy(); store_box(map, Box{1, 2}, s);"
     "add_box(map, Box{1, 2, 3}, s); store_commit(); store_wait_read<1>(); store_wait<0>();",
     "UTMALDG.1D UTMALDG.2D UTMALDG.3D UTMALDG.4D UTMALDG.5D UTMASTG.2D UTMAREDG.3D UTMAPF"},
    {"multicast", "tensor_map.cuh", "`load_box_multicast`: to several blocks of a cluster", 90,
     true, true,
     "const TensorMap& map = reinterpret_cast<const TensorMap&>(maps);"
     "load_box_multicast(s, map, Box{1, 2}, s, 3);"
     "load_box_multicast_hinted(s, map, Box{1, 2, 3}, s, 3, keep_in_l2());",
     "UTMALDG.2D.MULTICAST UTMALDG.3D.MULTICAST"},
    {"elect_one", "roles.cuh", "`elect_one`, `warp_index`: elect.sync", 90, false, false,
     "if (warp_index() == 0 && elect_one()) p[0] = 1;", "ELECT"},
    {"registers", "roles.cuh", "`release_registers`, `take_registers`: setmaxnreg", 90, true, false,
     "if (warp_index() < 4) { release_registers<40>(); p[0] = 1; } else { take_registers<232>(); "
     "p[1] = 2; }",
     "USETMAXREG"},
};

inline bool has(const Target& target, const Facility& facility) {
  return target.number() >= facility.first && (!facility.specific || target.feature == 'a') &&
         (!facility.clusters || target.number() < 120);
}

}  // namespace tilejit::atoms
