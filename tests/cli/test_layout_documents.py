"""The layouts that this project's reference documents print, as `tilejit layout` prints them."""

import unittest

from support import LayoutTest

NOTEBOOKS = "CUTE DSL 学习笔记二：Educational Notebooks"
ALGEBRA = "CuTe DSL notebooks: Layout Algebra"
ELEMENTWISE = "CuTe DSL notebooks: Elementwise Add Kernel"
TUTORIAL = "Kernel Tutorial: Building an Efficient Elementwise Add Kernel with CuTe DSL"
ESSAY = "什么是 CuTe"

MATRIX, TILES = "(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>"
BLOCK, GRID = "(2,5):(5,1)", "(3,4):(1,3)"
RUN_TIME = "A=10,B=2,C=16,D=4,E=5,F=4,G=1,H=5"

EXAMPLES = [
    # document, what it prints, operation and arguments
    (NOTEBOOKS, "(?,2):(1,?)", "make_layout", "(?,2)"),
    (NOTEBOOKS, "(8,2):(1,8)", "make_layout", "(8,2)"),
    (NOTEBOOKS, "(4,3):(1,4)", "make_layout", "(4,3)"),
    (NOTEBOOKS, "12:1", "coalesce", "(2,(1,6)):(1,(?,2))"),
    (NOTEBOOKS, "12:1", "coalesce", "(2,(1,6)):(1,(6,2))"),
    (NOTEBOOKS, "(2,6):(1,2)", "coalesce", "(2,(1,6)):(1,(6,2))", "(1,1)"),
    (NOTEBOOKS, "((2,2),3):((?{div=3},2),?)", "composition", "(6,2):(?,2)", "(4,3):(3,1)"),
    (NOTEBOOKS, "((2,2),3):((24,2),8)", "composition", "(6,2):(8,2)", "(4,3):(3,1)"),
    (NOTEBOOKS, "((2,2),(2,3)):((4,1),(2,8))", "logical_divide", "(4,2,3):(2,1,8)", "4:2"),
    (NOTEBOOKS, "((2,2),(2,3)):((4,1),(2,8))", "logical_product", "(2,2):(4,1)", "6:1"),
    (ALGEBRA, "(24,6):(4,2)", "coalesce", "((2,(3,4)),(3,2),1):((4,(8,24)),(2,6),12)"),
    (ALGEBRA, "(5,(2,2)):(16,(80,4))", "composition", "(10,2):(16,4)", "(5,4):(1,5)"),
    (ALGEBRA, "(3,(?,?)):(?,(?,?))", "composition", "(?,(?,?)):(?,(?,?))", "(3,8)"),
    (ALGEBRA, "(3,(4,2)):(59,(13,1))", "composition", "(12,(4,8)):(59,(13,1))", "(3,8)"),
    (ALGEBRA, "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))", "logical_divide", MATRIX, TILES),
    (ALGEBRA, "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))", "zipped_divide", MATRIX, TILES),
    (ALGEBRA, "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))", "tiled_divide", MATRIX, TILES),
    (ALGEBRA, "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))", "flat_divide", MATRIX, TILES),
    (ALGEBRA, "((2,3),(5,4)):((5,10),(1,30))", "blocked_product", BLOCK, GRID),
    (ALGEBRA, "((3,2),(4,5)):((10,5),(30,1))", "raked_product", BLOCK, GRID),
    (ALGEBRA, "((2,5),(3,4)):((5,1),(10,30))", "zipped_product", BLOCK, GRID),
    (ALGEBRA, "((2,5),3,4):((5,1),10,30)", "tiled_product", BLOCK, GRID),
    (ALGEBRA, "(2,5,3,4):(5,1,10,30)", "flat_product", BLOCK, GRID),
    (ELEMENTWISE, "((1,4)):((0,1)) at offset 0", "slice", "(_,0)",
     "((1,4),(2048,512)):((0,1),(2048,4))"),
    (ELEMENTWISE, "((16,256),(128,8)):((2048,1),(32768,256))", "zipped_divide",
     "(2048,2048):(2048,1)", "(16,256)"),
    (ELEMENTWISE, "((32,4),(8,4)):((8,8192),(1,2048))", "composition", "(16,256):(2048,1)",
     "((32,4),(8,4)):((128,4),(16,1))"),
    (TUTORIAL, "((1,4),(2048,512)):((0,1),(2048,4))", "zipped_divide", "(2048,2048):(2048,1)",
     "(1,4)"),
    (TUTORIAL, "tiler     (16,256)\nlayout_tv ((32,4),(8,4)):((128,4),(16,1))\n"
     "layout_mn ((4,4),(8,32)):((1024,32),(128,1))", "make_layout_tv", "(4,32):(32,1)",
     "(4,8):(8,1)"),
    (ESSAY, "0 2 4 6 1 3 5 7", "index_table", "((4,2)):((2,1))"),
    (ESSAY, "0 1 2 3 4 5 6 7", "index_table", "((4,2)):((1,4))"),
    (ESSAY, "17", "index", "(3,(2,3)):(3,(12,1))", "16"),
    (ESSAY, "17", "index", "(3,(2,3)):(3,(12,1))", "(1,5)"),
    (ESSAY, "17", "index", "(3,(2,3)):(3,(12,1))", "(1,(1,2))"),
]


class Documents(LayoutTest):
    def test_layouts_are_printed_as_there(self):
        for document, printed, *arguments in EXAMPLES:
            with self.subTest(document=document, arguments=arguments):
                self.assertEqual(self.layout(*arguments), printed + "\n")

    def test_unknown_leaves_are_filled_in_as_at_run_time(self):
        unknown = self.layout("composition", "(A,B):(C,D)", "(E,F):(G,H)").strip()
        filled = self.layout("substitute", unknown, RUN_TIME)
        self.assertEqual(filled, "((5,1),(2,2)):((16,4),(80,4))\n", ALGEBRA)


if __name__ == "__main__":
    unittest.main()
