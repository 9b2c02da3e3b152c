#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "cache/cache_commands.hpp"
#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "kernels/report.hpp"
#include "tilejit/cache_identity.hpp"
#include "tilejit/printable.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kCompilers = "compilers";  // markers; a cache without NVRTC relies on them

struct ExportOptions {
  std::string path, private_key;
  Selection selection;
  bool json = false;
};

struct Exported {
  std::uint64_t entries = 0, bytes = 0;
  std::vector<std::string> damaged;
};

void add_place(const Place& place, const Selection& selection, cache::BundleWriter& writer,
               Exported& exported) {
  for (const cache::EntryInfo& info : place.list()) {
    if (!selection.takes(info.key, place.metadata(info.key))) continue;
    const auto entry = place.read(info.key);
    if (!entry) {
      exported.damaged.push_back(info.key);
    } else if (writer.add(info.key, *entry)) {
      ++exported.entries;
      exported.bytes += entry->payload.size() + entry->metadata.size();
    }
  }
}

void write_bundle(const ExportOptions& options) {
  // The key is read first: a wrong key then costs no work.
  const std::string key =
      options.private_key.empty() ? "" : read_file(options.private_key, kLargestKey);
  const std::vector<Place> places = all_places(Options::from_env());
  cache::BundleWriter writer(options.path);
  Exported exported;
  std::set<std::string> compilers;
  for (const Place& place : places) {
    add_place(place, options.selection, writer, exported);
    for (const std::string& name : place.markers(kCompilers)) {
      if (compilers.insert(name).second) writer.add_marker(kCompilers, name);
    }
  }
  if (exported.entries == 0) throw Failure("no entry is chosen, so no bundle is written");
  writer.finish(key);
  if (options.json) {
    const ordered_json document = {{"path", options.path},
                                   {"entries", exported.entries},
                                   {"bytes", exported.bytes},
                                   {"signed", !key.empty()},
                                   {"damaged", exported.damaged}};
    fmt::print("{}\n", json_text(document));
  } else {
    fmt::print("{}: {}, {}{}\n", options.path, entries_text(exported.entries),
               bytes_text(static_cast<double>(exported.bytes)), key.empty() ? "" : ", signed");
  }
  if (exported.damaged.empty()) return;
  throw Failure(fmt::format("{} entries were left out because they are damaged, the first {}",
                            exported.damaged.size(), exported.damaged.front()));
}

void export_bundle(const ExportOptions& options) {
  try {
    write_bundle(options);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", options.private_key, error.what()));
  }
}

struct ImportOptions {
  std::string path, public_key;
  bool json = false;
};

void import(const ImportOptions& options) {
  const Options settings = Options::from_env();
  const std::filesystem::path folder = writable_folder(settings);
  const std::filesystem::path key =
      options.public_key.empty() ? settings.cache_bundle_key.string() : options.public_key;
  std::optional<cache::PublicKey> signer;
  try {
    if (!key.empty()) signer = cache::parse_public_key(read_file(key, kLargestKey));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", key.string(), error.what()));
  }
  const cache::Trust trust = settings.cache_trust_anyone ? cache::Trust::anyone : cache::Trust::own;
  const cache::Bundle bundle(options.path, trust, signer, is_entry_of);
  const cache::ImportReport report = cache::import_bundle(bundle, folder, trust);
  if (options.json) {
    const ordered_json document = {{"folder", folder.string()},
                                   {"added", report.added},
                                   {"added_bytes", report.added_bytes},
                                   {"present", report.present}};
    fmt::print("{}\n", json_text(document));
    return;
  }
  fmt::print("{}: added {}, {}; had {} already\n", printable(folder.string()),
             entries_text(report.added), bytes_text(static_cast<double>(report.added_bytes)),
             report.present);
}

}  // namespace

void add_cache_bundles(CLI::App& app) {
  auto chosen = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write entries into one file, a bundle");
  command->add_option("FILE", chosen->path, "The bundle")->type_name("FILE")->required();
  command->add_option("KEY", chosen->selection.keys, "Keys or first digits of them; default: all")
      ->type_name("KEY");
  command->add_option("--kernel", chosen->selection.kernel, "Only kernels with this in their name")
      ->type_name("NAME");
  command->add_option("--target", chosen->selection.target, "Only of this target")
      ->type_name("TARGET");
  command
      ->add_option("--sign", chosen->private_key, "Sign with this Ed25519 private key, a PEM file")
      ->type_name("FILE");
  add_json(*command, chosen->json, "cache-export");
  command->footer(
      "Use it where it lies with TILEJIT_CACHE_PATH, or import it. Examples:\n"
      "  tilejit cache export kernels.tjb --target sm_90a\n"
      "  openssl genpkey -algorithm ed25519 -out key.pem\n"
      "  openssl pkey -in key.pem -pubout -out public.pem\n"
      "  tilejit cache export kernels.tjb --sign key.pem");
  command->callback([chosen] { export_bundle(*chosen); });

  auto given = std::make_shared<ImportOptions>();
  command = app.add_subcommand("import", "Copy a bundle's entries into the folder, all or none");
  command->add_option("FILE", given->path, "The bundle")->type_name("FILE")->required();
  command
      ->add_option("--key", given->public_key,
                   "It must be signed by this Ed25519 public key, a PEM file; default: "
                   "TILEJIT_CACHE_BUNDLE_KEY")
      ->type_name("FILE");
  add_json(*command, given->json, "cache-import");
  command->footer("Examples:\n  tilejit cache import kernels.tjb --key public.pem");
  command->callback([given] { import(*given); });
}

}  // namespace tilejit::cli
