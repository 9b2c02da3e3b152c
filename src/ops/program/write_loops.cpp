// Loops, and the copies that those with stages do ahead.
#include <utility>

#include "program/kernel_writer.hpp"

namespace tilejit::program {
void KernelWriter::write_step(const Loop& step) {
  const std::string index = "k" + std::to_string(step.scalar);
  const std::string begin = fresh("n");
  const std::string end = fresh("n");
  const std::string by = fresh("n");
  line("const i64 " + begin + " = " + integer(step.begin) + ";");
  line("const i64 " + end + " = " + integer(step.end) + ";");
  const std::string own_step = integer(step.step);
  // A step that is not positive would never end.
  line("const i64 " + by + " = " +
       (step.step.code.is_known() ? own_step : own_step + " > 0 ? " + own_step + " : 1") + ";");
  if (!may_be_negative(step.begin)) counts_up_.insert(step.scalar);
  std::vector<const Load*> ahead;
  for (const Step& one : step.body) {
    const auto* const load = std::get_if<Load>(&one.kind);
    if (load != nullptr && ahead_.contains(load)) ahead.push_back(load);
  }
  const int outer = std::exchange(stages_, step.stages);
  if (!ahead.empty()) {
    write_pipelined(step, ahead, {begin, end, by});
    stages_ = outer;
    return;
  }
  const Hazards before = hazards_;
  hazards_.enter_loop(step.body, plan_.code);
  if (step.unroll > 0)
    line("#pragma unroll " + std::to_string(step.unroll));
  else
    line("#pragma unroll 1");
  open("for (i64 " + index + " = " + begin + "; " + index + " < " + end + "; " + index +
       " += " + by + ") {");
  steps(step.body);
  close();
  hazards_.join(before);
  stages_ = outer;
}

/// Step s of the loop reads buffer s % stages, while the copies for step s + stages - 1 are under
/// way to the one that step s - 1 has read.
void KernelWriter::write_pipelined(const Loop& step, const std::vector<const Load*>& ahead,
                                   const Texts& range) {
  const int stages = step.stages;
  const std::string index = "k" + std::to_string(step.scalar);
  const std::string count = std::to_string(stages);
  const auto copies = [&](const std::string& at, const std::string& buffer) {
    open("if (" + at + " < " + range[1] + ") {");
    line("const i64 " + index + " = " + at + ";");
    for (const Load* const load : ahead) {
      Place to = place(load->tile);
      to.pointer = "(s" + std::to_string(load->tile) + "_" + short_name(slot(load->tile).name) +
                   " + " + buffer + " * " +
                   std::to_string(plan_.places[static_cast<std::size_t>(load->tile)]->elements) +
                   ")";
      to.object = Hazards::kAhead;
      load_shared(*load, to, true);
      hazards_.forget(Hazards::kAhead);
    }
    close();
    line("async_copy_commit();");
  };
  headers_.insert("async_copy");
  meet();  // what other steps have left in the buffers has been read
  const std::string turn = fresh("turn");
  line("int " + turn + " = 0;");
  for (int s = 0; s + 1 < stages; ++s) {
    const std::string at = fresh("n");
    line("const i64 " + at + " = " + range[0] + " + " + std::to_string(s) + " * " + range[2] + ";");
    copies(at, std::to_string(s));
  }
  const Hazards before = hazards_;
  hazards_.enter_loop(step.body, plan_.code);
  line("#pragma unroll 1");
  open("for (i64 " + index + " = " + range[0] + "; " + index + " < " + range[1] + "; " + index +
       " += " + range[2] + ") {");
  line("async_copy_wait<" + std::to_string(stages - 2) + ">();");
  line("__syncthreads();");
  hazards_.clear();
  const std::string next = fresh("n");
  line("const i64 " + next + " = " + index + " + " + std::to_string(stages - 1) + " * " + range[2] +
       ";");
  const std::string free = fresh("n");
  line("const int " + free + " = " + turn + " == 0 ? " + std::to_string(stages - 1) + " : " + turn +
       " - 1;");
  copies(next, free);
  for (const Load* const load : ahead)
    line("buffer" + std::to_string(load->tile) + " = " + turn + ";");
  ++pipelines_;
  steps(step.body);
  --pipelines_;
  line(turn + " = " + turn + " + 1 == " + count + " ? 0 : " + turn + " + 1;");
  close();
  line("async_copy_wait<0>();");
  hazards_.join(before);
}

}  // namespace tilejit::program
