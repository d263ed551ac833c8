from plimsoll.domain.excerpts import excerpt, shortened


def test_a_long_line_keeps_its_beginning_and_its_end() -> None:
    line = shortened("a" * 5000 + "z" * 5000)
    assert line.startswith("aaa")
    assert line.endswith("zzz")
    assert "(9,700 characters left out)" in line
    assert len(line) < 350
    assert shortened("short") == "short"


def test_a_long_text_says_how_many_lines_follow() -> None:
    assert excerpt("\n".join(map(str, range(100)))).splitlines()[-2:] == ["23", "… (76 more lines)"]
    assert excerpt("one\ntwo") == "one\ntwo"
