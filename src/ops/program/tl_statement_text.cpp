// Statements as TL text.
#include <string>
#include <vector>

#include "program/style.hpp"
#include "program/tl_writer.hpp"
#include "program/words.hpp"

namespace tilejit::program {
namespace {

std::string items_text(const std::vector<TileExpression>& items, const char* brackets) {
  std::string text(1, brackets[0]);
  for (const TileExpression& item : items) text += (text.size() == 1 ? "" : ", ") + item.text();
  return text + brackets[1];
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text = "(";
  for (const std::string& name : names) text += (text.size() == 1 ? "" : ", ") + name;
  return text + ")";
}

std::string axes_text(const std::vector<int>& axes) {
  if (axes.size() == 1) return std::to_string(axes.front());
  std::string text = "(";
  for (const int axis : axes) text += (text.size() == 1 ? "" : ", ") + std::to_string(axis);
  return text + ")";
}

std::string index_text(const TileIndex& index) {
  switch (index.kind) {
    case TileIndex::Kind::none: break;
    case TileIndex::Kind::linear:
      return " in coordinate [L = " + (index.at.empty() ? "" : index.at.front().text()) + "]";
    case TileIndex::Kind::tile: return " in coordinate " + items_text(index.at, "[]");
    case TileIndex::Kind::element: return " at " + items_text(index.at, "[]");
    case TileIndex::Kind::gather: return " in indices " + items_text(index.at, "[]");
  }
  return {};
}

std::string space_text(TileSpace space) {
  return std::string(text_of(kSpaces, space));
}

struct StatementText {
  std::string operator()(const TileAllocate& made) const {
    std::string text = "Allocate " + made.name + " in " + space_text(made.space) + ' ' +
                       items_text(made.shape, "()");
    if (made.dtype) text += " : " + std::string(to_string(*made.dtype));
    if (made.init) text += " = " + made.init->text();
    if (made.offset) text += " with offset " + made.offset->text();
    if (!made.stride.empty()) text += " stride " + items_text(made.stride, "()");
    if (made.layout) text += " layout " + in_tl_quotes(to_string(*made.layout));
    return text;
  }

  std::string operator()(const TileCopy& copy) const {
    std::string text = "Copy " + copy.name;
    if (!copy.tile.empty()) text += ' ' + items_text(copy.tile, "()");
    text +=
        index_text(copy.index) + " from " + space_text(copy.from) + " to " + space_text(copy.to);
    if (!copy.as.empty()) text += " as " + copy.as;
    if (copy.pad != TilePad::none) text += " pad " + std::string(text_of(kPads, copy.pad));
    if (!copy.order.empty()) text += " order " + axes_text(copy.order);
    if (copy.mask) text += " mask " + copy.mask->text();
    if (copy.tv) {
      text += " tv " + in_tl_quotes(to_string(copy.tv->thr)) + ' ' +
              in_tl_quotes(to_string(copy.tv->val));
    }
    return text;
  }

  std::string operator()(const TileGemm& gemm) const {
    return "Compute GEMM " + gemm.a + (gemm.a_transposed ? ".T, " : ", ") + gemm.b +
           (gemm.b_transposed ? ".T" : "") + " and " + (gemm.accumulate ? "accumulate " : "get ") +
           gemm.out;
  }

  std::string operator()(const TileCompute& compute) const {
    if (compute.function.empty()) {
      return "Compute " + compute.out + " = " + (compute.value ? compute.value->text() : "");
    }
    std::string text = "Compute " + compute.function;
    for (std::size_t i = 0; i < compute.arguments.size(); ++i) {
      text += (i == 0 ? " " : ", ") + compute.arguments[i].text();
    }
    return text + " and get " + compute.out;
  }

  std::string operator()(const TileReduce& reduce) const {
    std::string text =
        "Compute " + std::string(text_of(kReduceStatements, reduce.kind)) + ' ' + reduce.name;
    if (!reduce.axes.empty()) text += " axis " + axes_text(reduce.axes);
    if (reduce.init) text += " init " + reduce.init->text();
    if (!reduce.keepdims) text += " keepdims false";
    return text + " and get " + reduce.out;
  }

  std::string operator()(const TileScan& scan) const {
    return "Compute " + std::string(text_of(kScanStatements, scan.kind)) + ' ' + scan.name +
           " axis " + std::to_string(scan.axis) + (scan.exclusive ? " exclusive" : "") +
           (scan.reverse ? " reverse" : "") + " and get " + scan.out;
  }

  std::string operator()(const TileReshape& reshape) const {
    std::string text = "Reshape " + reshape.name + ' ' + part(reshape);
    if (!reshape.as.empty()) text += " as " + reshape.as;
    return text;
  }

  static std::string part(const TileReshape& reshape) {
    switch (reshape.kind) {
      case TileReshape::Kind::role:
        return "from " + names_text(reshape.from) + " to " + names_text(reshape.to);
      case TileReshape::Kind::shape: return "to " + items_text(reshape.shape, "()");
      case TileReshape::Kind::permute: return "permute " + axes_text(reshape.axes);
      case TileReshape::Kind::broadcast: return "broadcast " + items_text(reshape.shape, "()");
      case TileReshape::Kind::extract: {
        const std::string at = items_text(reshape.at, "[]");
        return "extract " +
               (reshape.shape.empty() ? at : items_text(reshape.shape, "()") + " at " + at);
      }
      case TileReshape::Kind::insert:
        return "insert " + reshape.source + " at " + items_text(reshape.at, "[]");
      case TileReshape::Kind::cat: break;
    }
    std::string others;
    for (const std::string& name : reshape.others) others += (others.empty() ? "" : ", ") + name;
    return "cat " + others + " axis " + std::to_string(reshape.axis);
  }

  std::string operator()(const TileLet& let) const {
    return "Let " + let.name + " = " + let.value.text();
  }

  std::string operator()(const TileFor& loop) const {
    std::string text = "for " + loop.name + " = " + loop.begin.text() + " : " + loop.end.text();
    if (loop.step) text += " step " + loop.step->text();
    if (loop.stages) text += " stages " + std::to_string(*loop.stages);
    if (loop.unroll) text += " unroll " + std::to_string(*loop.unroll);
    return text;
  }

  std::string operator()(const TileWhile& loop) const { return "while " + loop.condition.text(); }
  std::string operator()(const TileIf& branch) const { return "if " + branch.condition.text(); }

  std::string operator()(const TileAtomic& atomic) const {
    std::string text = "Atomic " + std::string(text_of(kAtomics, atomic.kind)) + ' ' + atomic.name;
    if (!atomic.tile.empty()) text += ' ' + items_text(atomic.tile, "()");
    text += index_text(atomic.index) + " as " + atomic.as;
    if (!atomic.out.empty()) text += " and get " + atomic.out;
    return text;
  }

  std::string operator()(const TilePrint& print) const {
    std::string text = "Print " + in_tl_quotes(print.text);
    for (const TileExpression& argument : print.arguments) text += ", " + argument.text();
    return text;
  }

  std::string operator()(const TileAssert& assertion) const {
    return "Assert " + assertion.condition.text() +
           (assertion.message.empty() ? "" : ", " + in_tl_quotes(assertion.message));
  }

  std::string operator()(const TileBarrier&) const { return "Barrier"; }
  std::string operator()(const TileComment& comment) const { return "# " + comment.text; }
};

}  // namespace

std::string statement_text(const TileStatement::Kind& statement) {
  return std::visit(StatementText{}, statement);
}

}  // namespace tilejit::program
