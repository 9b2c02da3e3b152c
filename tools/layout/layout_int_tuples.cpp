// Int tuples and shapes: rows of the table of operations.
#include "layout/layout_operations.hpp"

namespace tilejit::cli {
namespace {

using Two = IntTuple (*)(const IntTuple&, const IntTuple&);

}  // namespace

std::vector<Operation> int_tuple_operations() {
  return {
      operation(
          "product", {"a"}, "The product of all integers", {"(4,(2,3))"},
          +[](const IntTuple& a) { return product(a); }),
      operation("product_each", {"a"}, "The product of each mode", {"(4,(2,3))"}, product_each),
      operation("product_like", {"a", "b"}, "The products below the leaves of B",
                {"((4,5),(2,3))", "(0,(0,0))"}, product_like),
      operation("ceil_div", {"a", "b"}, "A / B, rounded up; a tuple by an integer folds",
                {"(5,8)", "(2,8)"}, static_cast<Two>(ceil_div)),
      operation("shape_div", {"a", "b"}, "A / B, where one divides the other", {"(4,5,6)", "40"},
                shape_div),
      operation("round_up", {"a", "b"}, "The least multiples of B that are not below A",
                {"(5,9)", "(4,4)"}, round_up),
      operation("congruent", {"a", "b"}, "Nested alike", {"(4,(2,3))", "(1,(1,1))"}, congruent),
      operation("weakly_congruent", {"a", "b"}, "B is nested as A, or splits leaves of it",
                {"(4,6)", "(4,(2,3))"}, weakly_congruent),
      operation("compatible", {"a", "b"}, "Coordinates of A are coordinates of B",
                {"(4,6)", "(4,(2,3))"}, compatible),
      operation("evenly_divides", {"shape", "tiler"}, "No tile overhangs the shape",
                {"(8,6)", "(4,3)"}, evenly_divides),
      operation("lex_less", {"a", "b"}, "A < B by the first mode that differs", {"(1,5)", "(2,0)"},
                lex_less),
      operation("colex_less", {"a", "b"}, "A < B by the last mode that differs", {"(5,1)", "(0,2)"},
                colex_less),
      operation("elem_less", {"a", "b"}, "A < B in every mode", {"(1,2)", "(3,4)"}, elem_less),
  };
}

}  // namespace tilejit::cli
