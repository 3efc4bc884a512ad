# SPDX-License-Identifier: Apache-2.0
"""Measures for `redis`: lets bench_calls ask each server in turn and reads, around it, the processor time of the
server's process and its counters. What they mean is redis_report's business."""

import argparse
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import redis_report as report

FIRST_COLD = 1_000_000  # behind the serial numbers of the fixed questions
READY_S = 20


@dataclass
class Server:
    name: str
    pid: int
    port: int
    admin: int


def counters(server: Server) -> dict:
    """{name{labels}: value} of /metrics"""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"http://127.0.0.1:{server.admin}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{[^}\n]*\})?) (\S+)$", text, re.M)}


def cpu_ns(pid: int) -> int:
    """Of all threads of a process: Linux encodes the clock of another process so (clock_getcpuclockid)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def user_and_system(pid: int) -> list:
    """In ticks: coarse, good for their proportion alone."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return [int(ticks) for ticks in fields[11:13]]


class Bench:
    def __init__(self, options):
        self.options = options
        self.next_cold = FIRST_COLD
        self.servers = {}
        for text in options.servers:
            name, numbers = text.split("=")
            self.servers[name] = Server(name, *map(int, numbers.split(":")))

    def ask(self, server: Server, *arguments) -> dict:
        work = self.options.work
        done = subprocess.run(
            [self.options.calls, "--port", str(server.port), "--token-file", work / "token", "--words", work / "words.txt",
             *map(str, arguments)], stdout=subprocess.PIPE)
        if done.returncode:
            log = (work / f"{server.name}.log").read_text(errors="replace")
            sys.exit(f"{server.name}: a call failed\n{log[-2000:]}")
        return json.loads(done.stdout)

    def wait_for_redis(self) -> None:
        """Before the first call, so that none is without Redis."""
        end = time.monotonic() + READY_S
        for name in report.WITH_REDIS:
            while not report.is_up(counters(self.servers[name])):
                if time.monotonic() > end:
                    sys.exit(f"{name}: Redis is not up\n" + (self.options.work / f"{name}.log").read_text()[-2000:])
                time.sleep(0.02)

    def warm(self) -> None:
        """Every fixed question once: the first server works them out and fills Redis for the second."""
        digests = {name: self.ask(self.servers[name], "--once")["digest"] for name in report.WARM}
        if len(set(digests.values())) != 1:
            sys.exit(f"not the same answers: {digests}")

    def turn(self, name: str, connections: int, first_cold: int) -> dict:
        server, redis = self.servers[name], self.options.redis
        cold = ["--cold", first_cold] if name in report.COLD else []
        counted, split = counters(server), user_and_system(server.pid)
        redis_ns, ns = cpu_ns(redis), cpu_ns(server.pid)
        out = self.ask(server, "--connections", connections, "--ms", self.options.ms, *cold)
        ns, redis_ns = cpu_ns(server.pid) - ns, cpu_ns(redis) - redis_ns
        split = [now - before for now, before in zip(user_and_system(server.pid), split)]
        now = counters(server)
        return out | {"path": name, "connections": connections, "cpu_ns": ns, "redis_cpu_ns": redis_ns,
                      "user_ticks": split[0], "system_ticks": split[1],
                      "counted": {key: now[key] - counted.get(key, 0) for key in now}}

    def round(self, number: int) -> list:
        """All paths at all numbers of connections; each round begins with another path."""
        out = []
        paths = list(self.servers)
        for connections in report.CONNECTIONS:
            first_cold = self.next_cold
            for i in range(len(paths)):
                out.append(self.turn(paths[(i + number) % len(paths)], connections, first_cold))
                if out[-1]["path"] in report.COLD:
                    self.next_cold = max(self.next_cold, first_cold + out[-1]["calls"])
            self.empty(1)
        return out

    def empty(self, database: int) -> None:
        """A database of Redis, which would grow without end: new answers are never asked for again."""
        subprocess.run(["redis-cli", "-s", self.options.work / "redis.sock", "-n", str(database), "FLUSHDB"], check=True,
                       stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, kind in (("work", Path), ("calls", Path), ("redis", int), ("rounds", int), ("ms", int), ("json", Path)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    parser.add_argument("servers", nargs="+", help="PATH=PID:PORT:ADMIN_PORT")
    bench = Bench(parser.parse_args())
    load = os.getloadavg()[0]
    bench.wait_for_redis()
    bench.warm()
    turns = []
    for number in range(bench.options.rounds):
        print(f"round {number + 1} of {bench.options.rounds}", file=sys.stderr)
        turns += bench.round(number)
    figures = report.figures(turns) | {"rounds": bench.options.rounds, "cores": os.cpu_count(), "load_before": load}
    bench.options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(report.table(figures))
    wrong = report.wrong_counts(turns)
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
