#!/usr/bin/env python3
"""Compares proxies end to end: same upstream, same load, in rounds that take turns.

    cargo build --release --examples
    python3 benches/end_to_end/run.py [--rounds 5] [--seconds 3] [--only "NAME;…"] [--peers DIR] [--mix METHOD=TIMES,…]

What is asked comes in four mixes: calls alone; a session, with a page of 20 tools (22 kB) in twenty requests; lists, with a list of
100 tools (108 kB) in every ten; and calls that are answered by 1,000 events.

Everything listens on 127.0.0.1. Where there are cores to choose from, the proxy has one for itself, and upstream and load have the
others: what they do to a core's caches would count for the proxy, more in one round than in the next. CPU is user and system time of
the proxy's processes, from /proc, so Linux only.
With `--peers DIR`, DIR may hold `mcp-proxy` (of crates.io, `cargo install mcp-proxy --root DIR`: DIR/bin) and
a Python environment `venv` with `mcp-proxy` and `fastmcp` of PyPI; those that are there are measured, too.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

# Without --mix. Published proxies answer the first and the third: they neither pass cursors nor streams on.
CALLS, SESSION = "tools/call=1", "tools/call=17,page=1,resources/read=1,ping=1"
LISTS, EVENTS = "tools/call=14,tools/list=2,resources/read=2,ping=2", "events=1"

# The last core is the proxy's.
*OTHERS, OWN = sorted(os.sched_getaffinity(0))

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    options = arguments()
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    programs = os.path.join(target, "release", "examples")
    program, bare, proxy = (built(os.path.join(programs, name)) for name in ("end_to_end", "bare_proxy", "reverse_proxy"))
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(Process("upstream", [program, "upstream"], cores=OTHERS))
        subjects = [Subject(name, command, load) for name, command, load in plain(bare, proxy, upstream.url)]
        if options.peers:
            subjects += peers(options.peers, upstream.url, stack)
        if options.only:
            subjects = [subject for subject in subjects if subject.name in options.only.split(";")]
        for subject in subjects:
            subject.start(stack)
        for number in range(options.rounds):
            # What is compared is measured close together, and the order turns, so that nobody always comes after the same one.
            for mix in options.mix:
                for subject in subjects[number % len(subjects):] + subjects[:number % len(subjects)]:
                    subject.measure(program, options, mix)
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)
        for mix in options.mix:
            table(subjects, mix)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--only", help="names, with semicolons between them")
    parser.add_argument("--peers", metavar="DIR")
    parser.add_argument("--mix", action="append", help="what is asked: METHOD=TIMES,… (may stand more than once)")
    options = parser.parse_args()
    options.mix = options.mix or [CALLS, SESSION, LISTS, EVENTS]
    options.rounds = min(options.rounds, 50)
    options.seconds = min(options.seconds, 30)
    return options


def plain(bare, proxy, upstream):
    """Name, command and load of what this crate is compared with itself by."""
    identity = ["--no-advertise", "--flat-key", "keep", "--audience", "host"]
    listen = ["--listen", "127.0.0.1:0", "--upstream", upstream]
    yield "direct", None, {"url": upstream}
    yield "bare", [bare, *listen], {}
    yield "identity", [proxy, *listen, *identity], {}
    yield "full, host", [proxy, *listen], {"apps": True}
    yield "full, model", [proxy, *listen], {}
    yield "full, host, modern", [proxy, *listen], {"apps": True, "era": "modern"}
    yield "full, model, modern", [proxy, *listen], {"era": "modern"}
    yield "full, host, nothing remembered", [proxy, *listen, "--max-remembered-bytes", "0"], {"apps": True, "mix": LISTS}
    yield "bare, modern", [bare, *listen], {"era": "modern"}


def peers(folder, upstream, stack):
    """Published proxies that do this job, as far as they are there."""
    scratch = stack.enter_context(tempfile.TemporaryDirectory())
    found = []
    crate = os.path.join(folder, "bin", "mcp-proxy")
    if os.path.exists(crate):
        port = free_port()
        config = os.path.join(scratch, "proxy.toml")
        with open(config, "w") as file:
            file.write(f"""
[proxy]
name = "bench"
separator = "__"
[observability]
log_level = "error"
[proxy.listen]
host = "127.0.0.1"
port = {port}
[[backends]]
name = "up"
transport = "http"
url = "{upstream}"
""")
        found.append(Subject("mcp-proxy (crates.io), no reads", [crate, "--config", config], {"peer": True, "tool": "up__tool_2_search", "url": f"http://127.0.0.1:{port}/", "read": False}))
    python = os.path.join(folder, "venv", "bin")
    if os.path.exists(os.path.join(python, "mcp-proxy")):
        port = free_port()
        inner = [os.path.join(python, "mcp-proxy"), "--transport", "streamablehttp", upstream]
        outer = [os.path.join(python, "mcp-proxy"), "--port", str(port), "--transport", "streamablehttp", "--", *inner]
        found.append(Subject("mcp-proxy (PyPI)", outer, {"peer": True, "url": f"http://127.0.0.1:{port}/mcp"}))
    if os.path.exists(os.path.join(python, "fastmcp")):
        port = free_port()
        script = os.path.join(scratch, "proxy.py")
        with open(script, "w") as file:
            file.write(f"""
from fastmcp.server import create_proxy
create_proxy("{upstream}").run(transport="http", host="127.0.0.1", port={port}, log_level="error", show_banner=False)
""")
        found.append(Subject("FastMCP proxy", [os.path.join(python, "python"), script], {"peer": True, "url": f"http://127.0.0.1:{port}/mcp"}))
    return found


class Process:
    """A child that says where it listens in its first line, or listens where it was told."""

    def __init__(self, name, command, url=None, cores=()):
        self.name, self.command, self.url, self.cores = name, command, url, cores

    def __enter__(self):
        quiet = subprocess.DEVNULL
        out = quiet if self.url else subprocess.PIPE
        self.child = subprocess.Popen(self.command, stdout=out, stderr=quiet, text=True, preexec_fn=bound_to(self.cores))
        if self.url:
            wait_for(self.url)
        else:
            self.url = re.search(r"http://\S+", self.child.stdout.readline()).group()
        return self

    def __exit__(self, *_):
        self.child.terminate()
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()

    def family(self):
        """The process and those that it started."""
        family = [self.child.pid]
        for pid in family:
            for path in glob.glob(f"/proc/{pid}/task/*/children"):
                with contextlib.suppress(OSError), open(path) as file:
                    family += map(int, file.read().split())
        return family

    def cpu(self):
        """Seconds of CPU so far."""
        return sum(nanoseconds(pid) for pid in self.family()) / 1e9

    def memory(self):
        """The most bytes that were resident."""
        total = 0
        for pid in self.family():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
        return total


def bound_to(cores):
    """What a child does first, to stay on these cores; nothing where there is no choice."""
    return (lambda: os.sched_setaffinity(0, cores)) if OTHERS else None


def nanoseconds(pid):
    """CPU time of the threads of a process, as the scheduler counts it: ticks are too long for short rounds. Not of threads that ended."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError), open(path) as file:
            total += int(file.read().split()[0])
    return total


class Subject:
    """Something to measure, and what came of it."""

    def __init__(self, name, command, load):
        self.name, self.command, self.load, self.results = name, command, load, {}

    def start(self, stack):
        self.process = None
        self.url = self.load.get("url")
        if self.command:
            self.process = stack.enter_context(Process(self.name, self.command, self.url, [OWN]))
            self.url = self.process.url

    def measure(self, program, options, mix):
        if self.load.get("peer") and mix in (SESSION, EVENTS) or mix != self.load.get("mix", mix):
            return
        asked = mix
        if not self.load.get("read", True):
            # It names resources its own way.
            mix = ",".join(part for part in mix.split(",") if not part.startswith("resources/"))
        command = [program, "load", "--url", self.url, "--seconds", str(options.seconds), "--mix", mix]
        command += ["--connections", str(options.connections), "--era", self.load.get("era", "legacy")]
        command += ["--apps"] if self.load.get("apps") else []
        command += ["--tool", self.load["tool"]] if "tool" in self.load else []
        before = self.process.cpu() if self.process else 0
        # Bounded also where a proxy hangs.
        seconds = options.seconds * 4 + 30
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=bound_to(OTHERS))
        if done.returncode:
            sys.exit(f"{self.name}: status {done.returncode}: {done.stderr[-2000:]}{done.stdout[-500:]}")
        result = json.loads(done.stdout)
        result["cpu_us"] = ((self.process.cpu() if self.process else 0) - before) / result["requests"] * 1e6
        result["rps"] = result["requests"] / result["seconds"]
        result["mib"] = self.process.memory() / 2**20 if self.process else 0
        self.results.setdefault(asked, []).append(result)


def table(subjects, mix):
    print(f"\n{mix}\n")
    print("| proxy | CPU per request, µs | to bare | requests/s | median, ms | p99, ms | memory, MiB |")
    print("|---|---|---|---|---|---|---|")
    for subject in subjects:
        results = subject.results.get(mix)
        if results:
            cells = [
                spread(results, "cpu_us", 1, 1), to_bare(subjects, subject, mix), spread(results, "rps", 1, 0), spread(results, "median_us", 1e-3, 2),
                spread(results, "p99_us", 1e-3, 2), f"{max(result['mib'] for result in results):.0f}",
            ]
            print(f"| {subject.name} | " + " | ".join(cells) + " |")


def to_bare(subjects, subject, mix):
    """How much CPU it takes for each that the proxy without layers takes in the same round: the median of the rounds."""
    name = "bare, modern" if subject.name.endswith("modern") else "bare"
    bare = next((other.results.get(mix, []) for other in subjects if other.name == name), [])
    ratios = [one["cpu_us"] / two["cpu_us"] for one, two in zip(subject.results.get(mix, []), bare)]
    return f"{statistics.median(ratios):.2f}" if ratios else ""


def spread(results, key, scale, digits):
    values = [result[key] * scale for result in results]
    return " · ".join(f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))


def built(program):
    if not os.path.exists(program):
        sys.exit(f"{program} is missing: cargo build --release --examples")
    return program


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url):
    for _ in range(300):
        try:
            urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=2)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"nothing listens at {url}")


if __name__ == "__main__":
    main()
