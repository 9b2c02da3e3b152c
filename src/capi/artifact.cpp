#include <nlohmann/json.hpp>

#include "capi/guard.hpp"
#include "capi/handles.hpp"

using namespace tilejit;
using namespace tilejit::capi;

namespace {

std::int32_t number_of(const nlohmann::json& metadata, const char* name) {
  const auto found = metadata.is_object() ? metadata.find(name) : metadata.end();
  return found != metadata.end() && found->is_number_integer() ? found->get<std::int32_t>() : -1;
}

}  // namespace

extern "C" {

void tj_artifact_destroy(tj_artifact* artifact) {
  delete artifact;
}

const char* tj_artifact_key(const tj_artifact* artifact) {
  return artifact == nullptr ? nullptr : artifact->artifact.key.c_str();
}

const char* tj_artifact_kernel_name(const tj_artifact* artifact) {
  return artifact == nullptr ? nullptr : artifact->artifact.kernel_name.c_str();
}

const char* tj_artifact_target(const tj_artifact* artifact) {
  return artifact == nullptr ? nullptr : artifact->target.c_str();
}

const char* tj_artifact_tier(const tj_artifact* artifact) {
  return artifact == nullptr ? nullptr : to_string(artifact->artifact.tier).data();  // a literal
}

const char* tj_artifact_metadata(const tj_artifact* artifact) {
  return artifact == nullptr ? nullptr : artifact->artifact.metadata->c_str();
}

const void* tj_artifact_cubin(const tj_artifact* artifact, size_t* bytes) {
  if (artifact == nullptr) return nullptr;
  if (bytes != nullptr) *bytes = artifact->artifact.cubin->size();
  return artifact->artifact.cubin->data();
}

tj_status tj_artifact_get_info(const tj_artifact* artifact, tj_artifact_info* info) {
  return guarded([&] {
    tj_artifact_info& filled = required_struct(info, "info");
    const Artifact& known = required(artifact, "artifact").artifact;
    const auto metadata = nlohmann::json::parse(*known.metadata, nullptr, false);
    filled.registers = number_of(metadata, "registers");
    filled.spill_bytes = number_of(metadata, "spill_bytes");
    filled.shared_bytes = number_of(metadata, "shared_bytes");
  });
}

}  // extern "C"
