# SPDX-License-Identifier: Apache-2.0
"""A real redis-server of a test's own, the clock it lives by, and a client just large enough to look and to plant."""

import mmap
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import service as kb

BINARY = shutil.which("redis-server") or "/usr/bin/redis-server"


def shim(name: str) -> Path:
    """A library of tests/fakes, beside the binary under test."""
    path = Path(os.environ.get("SHIM_DIR", Path(kb.KBGATE).resolve().parent / "tests")) / f"{name}.so"
    assert path.exists(), f"no {path}: build the target {name}"
    return path


def preloading(*libraries: Path) -> dict:
    """The environment with these libraries before those that are preloaded already."""
    # A sanitizer's runtime wants to be the first library; the shims call nothing of it.
    options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    before = os.environ.get("LD_PRELOAD", "").split()
    return {"LD_PRELOAD": " ".join([*map(str, libraries), *before]), "ASAN_OPTIONS": options.lstrip(":")}


def free_port() -> int:
    """Below the ports that the system hands out, so that nobody takes it while its server is away."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(max(1024, lowest - 12000), lowest)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Clock:
    """The wall clock of the programs that run with environment(); the real one until it is set."""

    REAL, OFFSET, FROZEN = range(3)

    def __init__(self, file: Path):
        self.file = file
        file.write_bytes(bytes(16))
        with open(file, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 16)

    def environment(self) -> dict:
        return preloading(shim("clock_shim")) | {"CLOCK_SHIM_FILE": str(self.file)}

    def _set(self, mode: int, us: int):
        self.map[8:] = struct.pack("=q", us)
        self.map[:8] = struct.pack("=q", mode)

    def skew(self, seconds: float):
        self._set(self.OFFSET, int(seconds * 1_000_000))

    def freeze(self, unix_us: int):
        self._set(self.FROZEN, unix_us)

    def run(self):
        self._set(self.REAL, 0)

    def forward(self, us: int):
        """A frozen clock, that much later."""
        mode, now = struct.unpack("=qq", self.map[:])
        assert mode == self.FROZEN and us >= 0
        self.freeze(now + us)


class RedisError(Exception):
    """An error reply."""


class Client:
    """One connection that speaks RESP2, blocking. Bytes in, bytes out."""

    def __init__(self, port: int, timeout: float = 10, auth: tuple = ()):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.file = self.socket.makefile("rb")
        if auth:
            self("AUTH", *auth)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def __call__(self, *args):
        parts = [a if isinstance(a, bytes) else str(a).encode() for a in args]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return self.read()

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        assert kind == b"+", line
        return rest


class RedisServer:
    """On a loopback port that it keeps, and a unix socket; nothing is written to disk."""

    def __init__(self, home: Path, env: dict | None = None, password: str = "", options: tuple = ()):
        self.home, self.env, self.password, self.options = home, env or {}, password, options
        home.mkdir(parents=True, exist_ok=True)
        self.port, self.path = free_port(), home / "r.sock"
        self.process = None

    @property
    def url(self) -> str:
        return f"redis://{':' + self.password + '@' if self.password else ''}127.0.0.1:{self.port}/0"

    def start(self) -> "RedisServer":
        assert self.process is None
        env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "CONNECT_LOG")}
        password = ("--requirepass", self.password) if self.password else ()
        with open(self.home / "redis.log", "ab") as log:
            self.process = subprocess.Popen(
                [BINARY, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", str(self.path), "--save", "",
                 "--appendonly", "no", "--dir", str(self.home), *password, *self.options],
                stdout=log, stderr=log, env=env | self.env)
        end = time.monotonic() + 20
        while not self.is_answering():
            assert self.process.poll() is None and time.monotonic() < end, (self.home / "redis.log").read_text()
            time.sleep(0.01)
        return self

    def is_answering(self) -> bool:
        try:
            with self.client(timeout=1) as c:
                return c("PING") == b"PONG"
        except (OSError, RedisError):
            return False

    def client(self, **options) -> Client:
        if self.password:
            options.setdefault("auth", (self.password,))
        return Client(self.port, **options)

    def __call__(self, *args):
        """One command on a connection of its own."""
        with self.client() as c:
            return c(*args)

    def keys(self, pattern: str = "*") -> list:
        return sorted(self("KEYS", pattern))

    def _end(self, how: int):
        if self.process:
            self.process.send_signal(how)
            self.process.send_signal(signal.SIGCONT)  # if it was paused
            self.process.wait(30)
            self.process = None

    def kill(self):
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)

    def restart(self):
        self.kill()
        self.start()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
