"""GETs and SETs in an open loop, into times.csv: when each was due, how long it took from then, and its answer."""

import asyncio
import os
import random
import ssl
import sys
import time

host, port, name, (rate, seconds, seed, rows, connections) = *sys.argv[1:4], map(int, sys.argv[4:])
password, authority = os.environ.get("REDISCLI_AUTH", ""), os.environ.get("REDIS_AUTHORITY")
LONGEST_WAIT_S = 30


async def connected() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    tls = ssl.create_default_context(cafile=authority) if authority else None
    reader, writer = await asyncio.open_connection(host, int(port), ssl=tls)
    if password:
        writer.write(f"*2\r\n$4\r\nAUTH\r\n${len(password.encode())}\r\n{password}\r\n".encode())
        if not (answer := await reader.readuntil(b"\r\n")).startswith(b"+"):
            sys.exit(answer.decode())
    return reader, writer


async def main() -> None:
    dice, idle, missing, told = random.Random(seed), asyncio.Queue(), {}, [0, 0]
    for _ in range(connections):
        idle.put_nowait(await connected())
    epoch, start = time.time(), time.monotonic()

    def note(due: float, operation: str, ok: bool) -> None:
        told[ok] += 1
        print(f"{epoch + due:.6f},{(time.monotonic() - start - due) * 1e6:.0f},{operation},{ok:d}", file=times)

    async def ask(due: float, operation: str, command: str) -> None:
        reader, writer = connection = await idle.get()
        ok = False
        try:
            writer.write(command.encode())
            answer = await reader.readuntil(b"\r\n")
            if operation == "reads" and answer[:1] == b"$" and int(answer[1:]) >= 0:
                await reader.readexactly(int(answer[1:]) + 2)
            ok = answer[:1] in (b"+", b"$")
            idle.put_nowait(connection)
        except (OSError, EOFError):  # a connection that broke is not made again: what waits for one has no answer
            writer.close()
        note(due, operation, ok)

    async def tell() -> None:
        while True:
            await asyncio.sleep(1)
            failed, answered = told
            print(f"{answered} answered, {failed} failed", flush=True)
            told[:] = 0, 0

    telling = asyncio.create_task(tell())
    with open("times.csv", "w") as times:
        print("due_s,latency_us,operation,ok", file=times)
        for number in range(rate * seconds):
            due = number / rate
            await asyncio.sleep(max(0.0, start + due - time.monotonic()))
            key = f"{name}:{dice.randint(1, rows)}"
            is_read = dice.random() < 0.5
            operation, command = ("reads", f"GET {key}\r\n") if is_read else ("writes", f"SET {key} {number:0100}\r\n")
            task = asyncio.create_task(ask(due, operation, command))
            missing[task] = due, operation
            task.add_done_callback(missing.pop)
        if missing:
            await asyncio.wait(missing, timeout=LONGEST_WAIT_S)
        for due, operation in missing.values():
            note(due, operation, False)
    telling.cancel()


asyncio.run(main())
