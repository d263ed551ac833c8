from plimsoll.domain.text.errors import HostError
from plimsoll.domain.text.wording import excerpt, shortened, visible


def test_a_long_line_keeps_its_beginning_and_its_end() -> None:
    line = shortened("a" * 5000 + "z" * 5000)
    assert line.startswith("aaa")
    assert line.endswith("zzz")
    assert "(9,700 characters left out)" in line
    assert len(line) < 350
    assert shortened("short") == "short"


def test_a_line_that_is_a_little_too_long_is_whole() -> None:
    line = f"{'a word ' * 45}at the end"
    assert 300 < len(line) < 400
    assert shortened(line) == line
    assert excerpt(f"one\n{line}\nthree") == f"one\n{line}\nthree"
    lines = "\n".join(map(str, range(30)))
    assert excerpt(lines) == lines


def test_what_is_left_out_are_whole_sentences_or_else_whole_words() -> None:
    sentences = " ".join(f"Node {number} was down; it had been ended." for number in range(100))
    begin, _, end = shortened(sentences).split(" … ")
    assert begin.endswith(("down;", "ended."))
    assert end.startswith(("Node", "it had"))
    assert end.endswith("it had been ended.")
    words = " ".join(f"word{number}" for number in range(500))
    begin, _, end = shortened(words).split(" … ")
    assert set(begin.split()) | set(end.split()) < set(words.split())


def test_a_long_text_says_how_many_lines_follow() -> None:
    assert excerpt("\n".join(map(str, range(100)))).splitlines()[-2:] == ["23", "… (76 more lines)"]
    assert excerpt("one\ntwo") == "one\ntwo"


def test_spaces_and_joiners_that_people_write_with_stay() -> None:
    written = "5\u00a0MB, 東京\u3000大阪, می\u200cخواهم, 👩\u200d💻"
    assert visible(written) == written


def test_no_terminal_obeys_a_line_of_a_log() -> None:
    assert visible("a\x1b]0;mine\x07 \x9b2J\r\u202e é\n\tb") == "a\\x1b]0;mine\\x07 \\x9b2J\\r\\u202e é\n\tb"
    others = "\x00\xad\u061c\u200b\u2028\u2066\ufeff\ue000\U000e0041"
    assert visible(others).isascii()
    assert str(HostError("said \x1b[2J", where="n\x1b1")) == "n\\x1b1: said \\x1b[2J"
