import pytest

from plimsoll.adapters.local import facts


@pytest.fixture
def file(tmp_path):
    def written(text):
        (tmp_path / "file").write_text(text, encoding="utf-8")
        return tmp_path / "file"

    return written


def test_the_system_names_itself(file):
    assert facts._os_name(file('NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n')) == "Debian GNU/Linux 12"


def test_a_system_without_a_name_is_linux(tmp_path):
    assert facts._os_name(tmp_path / "none") == "Linux"


def test_the_processor_names_itself(file):
    assert facts._cpu_model(file("processor\t: 0\nmodel name\t: AMD EPYC: 7R13\n")) == "AMD EPYC: 7R13"


def test_memory_is_in_bytes(file):
    assert facts._meminfo(file("MemTotal: 2 kB\nHugePages_Total: 0\n"))["MemTotal"] == 2048


@pytest.mark.parametrize(("text", "chosen"), [("always [madvise] never\n", "madvise"), ("nothing\n", "unknown")])
def test_the_chosen_huge_pages_stand_in_brackets(file, text, chosen):
    assert facts._huge_pages(file(text)) == chosen
