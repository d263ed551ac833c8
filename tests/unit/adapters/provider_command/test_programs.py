"""What is kept of a program's outputs."""

import os

from plimsoll.adapters.providers.command.programs import _Output


def test_of_a_long_output_its_end_is_kept() -> None:
    """The last line says why a program failed, whatever it has told before."""
    read, written = os.pipe()
    output = _Output(os.fdopen(read, "rb"), most=1000)
    with os.fdopen(written, "wb") as pipe:
        for number in range(20_000):
            pipe.write(f"step {number}\n".encode())
        pipe.write(b"no such type")
    assert output.whole().endswith(b"step 19999\nno such type")
    assert len(output.whole()) == 1000
    assert output.is_too_long
