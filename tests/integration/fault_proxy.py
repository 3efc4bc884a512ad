# SPDX-License-Identifier: Apache-2.0
"""TCP between kbgate and what it speaks to: a round-robin over servers, and a line on which anything can go wrong.

Both pump bytes on an event loop in a thread of their own; a connection of a client is one connection to a server.
"""

import asyncio
import random
import socket
import threading

CHUNK = 64 * 1024


class Relay:
    """Accepts on a loopback port; what happens to a connection is for the subclass."""

    def __init__(self, port: int = 0):
        self.loop = asyncio.new_event_loop()
        self.tasks = set()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.call(self._listen())

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    async def _listen(self):
        self.server = await asyncio.start_server(self._accept, sock=self.listener, limit=CHUNK)

    async def _accept(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            await self.serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # an end of the connection went away
        finally:
            self.tasks.discard(task)
            writer.transport.abort()

    async def serve(self, reader, writer):
        raise NotImplementedError

    async def join(self, server, there, back):
        """Runs the two ways of a connection until either is done."""
        ways = [asyncio.ensure_future(there), asyncio.ensure_future(back)]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            server.transport.abort()

    async def _drop(self):
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def drop(self):
        """Ends every connection there is."""
        self.call(self._drop())

    async def _close(self):
        self.server.close()
        await self._drop()

    def close(self):
        self.call(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()


async def pump(reader, writer):
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()


class Balancer(Relay):
    """Each connection goes to the next server that accepts it. targets() → ["host:port", …]."""

    def __init__(self, targets):
        self.targets, self.turn = targets, 0
        super().__init__()

    async def serve(self, reader, writer):
        self.turn += 1
        targets = self.targets()
        for i in range(len(targets)):
            host, port = targets[(self.turn + i) % len(targets)].rsplit(":", 1)
            try:
                source, server = await asyncio.open_connection(host, int(port), limit=CHUNK)
            except OSError:
                continue
            await self.join(server, pump(reader, server), pump(source, writer))
            return


class FaultProxy(Relay):
    """In front of one server; the mode may change at any time.

    pass       as if it were not there
    delay      replies come delay_ms later
    cut        connections are closed, new ones too, at once
    blackhole  accepted and read, never answered
    garbage    whatever is sent is answered with `garbage`, or with seeded random bytes; the server hears nothing
    """

    MODES = ("pass", "delay", "cut", "blackhole", "garbage")

    def __init__(self, target_port: int, port: int = 0, seed: int = 1):
        self.target_port, self.mode, self.delay_ms, self.garbage = target_port, "pass", 0, None
        self.random, self.accepted = random.Random(seed), 0
        super().__init__(port)

    def set(self, mode: str, delay_ms: int = 0, garbage: bytes | None = None):
        """For the connections there are, too."""
        assert mode in self.MODES
        self.mode, self.delay_ms, self.garbage = mode, delay_ms, garbage
        if mode == "cut":
            self.drop()

    async def serve(self, reader, writer):
        self.accepted += 1
        if self.mode == "cut":
            return
        source, server = await asyncio.open_connection("127.0.0.1", self.target_port, limit=CHUNK)
        await self.join(server, self.send(reader, server, writer), self.answer(source, writer))

    async def send(self, reader, to_server, to_client):
        while data := await reader.read(CHUNK):
            if self.mode == "garbage":
                to_client.write(self.random.randbytes(self.random.randrange(1, 200)) if self.garbage is None else self.garbage)
                await to_client.drain()
            elif self.mode != "blackhole":
                to_server.write(data)
                await to_server.drain()

    async def answer(self, reader, to_client):
        while data := await reader.read(CHUNK):
            if self.mode == "delay":
                await asyncio.sleep(self.delay_ms / 1000)
            if self.mode in ("pass", "delay"):
                to_client.write(data)
                await to_client.drain()
