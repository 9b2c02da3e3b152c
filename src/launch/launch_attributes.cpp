#include "launch/launch_attributes.hpp"

namespace tilejit::launch {
namespace {

CUlaunchAttribute attribute(CUlaunchAttributeID id) noexcept {
  CUlaunchAttribute made{};
  made.id = id;
  return made;
}

}  // namespace

CUlaunchAttribute overlap_attribute() noexcept {
  CUlaunchAttribute made = attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  made.value.programmaticStreamSerializationAllowed = 1;
  return made;
}

LaunchAttributes::LaunchAttributes(const LaunchOptions& options)
    : overlaps_(options.overlap ? 1 : 0), shared_bytes_(options.shared_bytes) {
  if (options.overlap) add(overlap_attribute());
  if (options.cooperative) {
    CUlaunchAttribute made = attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    made.value.cooperative = 1;
    add(made);
  }
  if (options.priority) {
    CUlaunchAttribute made = attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY);
    made.value.priority = *options.priority;
    add(made);
  }
  if (options.shared_carveout) {
    CUlaunchAttribute made = attribute(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    made.value.sharedMemCarveout = static_cast<unsigned>(*options.shared_carveout);
    add(made);
  }
  if (options.cluster && *options.cluster > 1) {
    CUlaunchAttribute made = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    made.value.clusterDim = {static_cast<unsigned>(*options.cluster), 1, 1};
    add(made);
  }
}

}  // namespace tilejit::launch
