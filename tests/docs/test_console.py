"""The console blocks of all pages; and a test that the comparison finds outdated output."""

import os
import pathlib
import tempfile
import unittest

import console_blocks

TILEJIT = pathlib.Path(os.environ["TILEJIT_COMMAND"]).resolve()
HAVE_NVRTC = console_blocks.finds(TILEJIT, "nvrtc")


class Pages(unittest.TestCase):
    def test_print_what_they_show(self):
        for page in console_blocks.PAGES:
            with self.subTest(page=page.name):
                if not HAVE_NVRTC and page.name != "layouts.md":
                    self.skipTest("NVRTC is not installed")
                faults = console_blocks.faults_of(page, TILEJIT)
                self.assertEqual(faults, [], "\n" + "\n".join(faults))

    def test_blocks_are_found(self):
        blocks = []
        for page in console_blocks.PAGES:
            blocks += console_blocks.blocks_of(page)
        counts = {tag: sum(block.tag == tag for block in blocks) for tag in console_blocks.TAGS}
        self.assertGreater(counts[""], 30)
        self.assertGreater(counts["gpu"], 0)
        self.assertGreater(counts["norun"], 0)
        self.assertFalse([block.line for block in blocks if not block.commands and not block.tag])


class Comparison(unittest.TestCase):
    """Pages written here, with commands of the shell."""

    def faults(self, *lines, tag="", gpu=False):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("\n".join(["# Title", "", f"```console{tag}", *lines, "```", ""]))
            found = console_blocks.faults_of(page, TILEJIT, gpu)
            return [fault.replace(f"{folder}/", "") for fault in found]

    def test_accepts_what_is_printed(self):
        self.assertEqual(self.faults("$ printf 'one\\ntwo\\n'", "one", "two", "$ true"), [])

    def test_reports_a_changed_line_with_its_place(self):
        self.assertEqual(
            self.faults("$ printf 'one\\ntwo\\n'", "one", "three"),
            ["page.md:6: $ printf 'one\\ntwo\\n'\n  shown:   three\n  printed: two"],
        )

    def test_reports_lines_that_are_missing_on_either_side(self):
        self.assertEqual(
            self.faults("$ echo one", "one", "two"),
            ["page.md:6: $ echo one\n  shown:   two\n  printed: nothing"],
        )
        self.assertEqual(
            self.faults("$ echo one", "one", "$ echo two"),
            ["page.md:7: $ echo two\n  shown:   nothing\n  printed: two"],
        )

    def test_reports_exit_codes(self):
        self.assertIn("page.md:4: $ false\n  ended with 1", self.faults("$ false")[0])
        self.assertIn("ended with 0", self.faults("$ echo 'tilejit: no'", "tilejit: no")[0])
        self.assertEqual(self.faults("$ echo 'tilejit: no'; false", "tilejit: no"), [])
        self.assertEqual(
            self.faults("$ exit 0", "$ true"), ["page.md:4: $ exit 0\n  ended the shell"]
        )

    def test_dots_stand_for_any_lines(self):
        self.assertEqual(self.faults("$ seq 5", "1", "...", "4", "5"), [])
        self.assertEqual(self.faults("$ seq 5", "1", "..."), [])
        self.assertIn("shown:   6", self.faults("$ seq 5", "1", "...", "6")[0])

    def test_masks_what_varies_and_nothing_else(self):
        self.assertEqual(self.faults("$ echo 'ran in 3.1 ms'", "ran in 14.9 ms"), [])
        self.assertEqual(
            self.faults("$ echo 'sm_90a, 5.1 KB, 19 registers'", "sm_90a, 980 bytes, 18 registers"),
            [],
        )
        self.assertEqual(len(self.faults("$ echo 'moved 393 KB'", "moved 394 KB")), 1)
        self.assertEqual(len(self.faults("$ echo '8:1'", "8:2")), 1)

    def test_figures_of_a_gpu_are_masked_in_its_blocks(self):
        shown = "3038 GB/s, 101.6 % of a device-to-device copy"
        printed = "$ echo '2990 GB/s, 99.8 % of a device-to-device copy'"
        self.assertEqual(self.faults(printed, shown, tag=" gpu", gpu=True), [])
        self.assertEqual(len(self.faults(printed, shown)), 1)

    def test_runs_only_what_is_to_be_run(self):
        self.assertEqual(self.faults("$ false", tag=" norun"), [])
        self.assertEqual(self.faults("$ false", tag=" gpu"), [])
        self.assertEqual(len(self.faults("$ false", tag=" gpu", gpu=True)), 1)
        with self.assertRaisesRegex(ValueError, "page.md:3: unknown tag 'later'"):
            self.faults("$ false", tag=" later")

    def test_blocks_with_a_name_are_files(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            block = "```tl k.tl\nKernel k\n```\n"
            page.write_text(f"{block}\n```console\n$ cat k.tl\nKernel k\n```\n")
            self.assertEqual(console_blocks.faults_of(page, TILEJIT), [])
            page.write_text(block + block)
            with self.assertRaisesRegex(ValueError, "two blocks are files of one name"):
                console_blocks.files_of(page)

    def test_commands_of_a_page_share_a_shell(self):
        self.assertEqual(self.faults("$ export WORD=kept", "$ echo $WORD", "kept"), [])
        self.assertEqual(self.faults("$ test -f examples/catalogue/softmax.json"), [])


if __name__ == "__main__":
    unittest.main()
