#include "gpu/gpu_fixture.hpp"

#include "formula/analysis.hpp"

namespace tilejit::test {
namespace {

std::vector<Argument> scalar_arguments(const RandomCase& c) {
  return {c.scalars.begin(), c.scalars.end()};
}

}  // namespace

void Gpu::run_and_verify(const RandomCase& c, Random& random) {
  (void)run_filled(c, [&](GuardedTensor& tensor) { tensor.fill(random); });
}

std::vector<GuardedTensor> Gpu::run_and_verify(const RandomCase& c,
                                               const std::function<double()>& next) {
  return run_filled(c, [&](GuardedTensor& tensor) { tensor.fill(next); });
}

std::vector<GuardedTensor> Gpu::run_filled(const RandomCase& c, const Fill& fill) {
  const formula::Analysis analysis = formula::analyze(c.op);
  std::vector<GuardedTensor> host;
  for (std::size_t i = 0; i < c.op.tensors.size(); ++i) {
    host.emplace_back(c.op.tensors[i], c.symbols);
    if (analysis.access[i] != Access::out) fill(host.back());
  }
  HostArguments inputs{.tensors = {}, .scalars = c.scalars, .symbols = c.symbols};
  std::vector<GuardedTensor> before = host;
  for (GuardedTensor& tensor : before) inputs.tensors.push_back(tensor.data());

  std::vector<Buffer> device;
  std::vector<Argument> args;
  for (GuardedTensor& tensor : host) {
    device.emplace_back(*runtime(), tensor.bytes().size());
    device.back().copy_from_host(tensor.bytes().data(), tensor.bytes().size());
    args.emplace_back(
        static_cast<void*>(static_cast<char*>(device.back().data()) + tensor.guard()));
  }
  for (const Argument& scalar : scalar_arguments(c)) args.push_back(scalar);
  const Kernel kernel = runtime()->compile(c.op);
  kernel.launch(nullptr, args, c.symbols);
  std::vector<GuardedTensor> first = host;
  for (std::size_t i = 0; i < host.size(); ++i) {
    device[i].copy_to_host(first[i].bytes().data(), first[i].bytes().size());
    device[i].copy_from_host(host[i].bytes().data(), host[i].bytes().size());
  }
  kernel.launch(nullptr, args, c.symbols);

  std::vector<const void*> actual;
  for (std::size_t i = 0; i < host.size(); ++i) {
    device[i].copy_to_host(host[i].bytes().data(), host[i].bytes().size());
    EXPECT_EQ(host[i].bytes(), first[i].bytes())
        << "tensor " << c.op.tensors[i].name << " has other bits the second time";
    EXPECT_EQ(host[i].check_guards(), "") << "tensor " << c.op.tensors[i].name;
    if (analysis.access[i] == Access::in) {
      EXPECT_EQ(host[i].bytes(), before[i].bytes()) << "an input changed";
    }
    actual.push_back(host[i].data());
  }
  const Verification result = verify(*runtime(), c.op, inputs, actual);
  EXPECT_TRUE(result.passed) << result.first_mismatch << " (" << result.mismatches << " of "
                             << result.elements << ")";
  return host;
}

}  // namespace tilejit::test
