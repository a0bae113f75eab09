"""A program: many model servers whose metrics page never changes. `python -m tests.support.metrics_pages SERVERS BYTES`.

Prints the ports in one line. For each number that arrives on standard input it prints how many pages were served, once that many were.
"""

import asyncio
import json
import sys

from tests.support.waiting import until

HEAD = """# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 1.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="5000"} 1.0
"""
FILLER = 'vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5",model_name="m"} 1.0\n'


def page(size_bytes: int) -> bytes:
    """A page of about this size, what matters first."""
    return (HEAD + FILLER * ((size_bytes - len(HEAD)) // len(FILLER))).encode()


class Pages:
    """Serves one answer, and counts."""

    def __init__(self, size_bytes: int) -> None:
        body = page(size_bytes)
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        self.served = 0


class Connection(asyncio.Protocol):
    """Answers whatever comes."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        for _ in range(data.count(b"GET ")):
            self._pages.served += 1
            self._transport.write(self._pages.answer)


async def main(servers: int, size_bytes: int) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    pages = Pages(size_bytes)
    running = [await loop.create_server(lambda: Connection(pages), "127.0.0.1", 0) for _ in range(servers)]
    sys.stdout.write(json.dumps([server.sockets[0].getsockname()[1] for server in running]) + "\n")
    sys.stdout.flush()
    while line := await asyncio.to_thread(sys.stdin.readline):
        wanted = int(line)
        await until(lambda: pages.served >= wanted)  # noqa: B023 - awaited before the next line
        sys.stdout.write(f"{pages.served}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
