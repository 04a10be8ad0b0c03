#!/usr/bin/env python3
"""Makes the seeds of all targets out of the recordings and of JSONTestSuite: `fuzz/seeds.py`, into `fuzz/corpus`."""

import hashlib
import json
import pathlib

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "tests" / "data"

# As `tests/hostile/stacks.rs` has them.
STACKS, NAMESPACED, META_TOOLS = 9, 7, 8


def write(target, seed):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


def body_of(path):
    """The body of an answer."""
    return path.read_bytes().partition(b"\r\n\r\n")[2]


def messages(body):
    """The JSON texts of an answer: itself, or the data of its events."""
    if body.lstrip()[:1] in (b"{", b"["):
        return [body]
    return [line.partition(b":")[2].strip() for line in body.splitlines() if line.startswith(b"data:") and b"{" in line]


def named(request):
    """The request as a client sends it that knows the server by its prefix."""
    for start in (b'"params":{"name":"', b'"params":{"uri":"'):
        request = request.replace(start, start + b"ours__" if b"name" in start else start[:-1] + b'"ours+')
    return request.replace(b'"ours+ui://', b'"ui://ours+')


def through(request):
    """The call as one through a meta-tool."""
    message = json.loads(request or b"{}")
    if message.get("method") == "tools/call":
        message["params"]["arguments"] = {"name": message["params"].get("name")}
        message["params"]["name"] = "call_tool"
    return json.dumps(message, separators=(",", ":")).encode()


def in_text(answer):
    """The list as a meta-tool answers it."""
    text = json.dumps({"tools": json.loads(answer)["result"]["tools"]})
    result = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}, separators=(",", ":")).encode()


def main():
    requests, answers = set(), set()
    for path in sorted(DATA.glob("recordings/*/*.request.json")):
        body = json.loads(path.read_text())["body"]
        if body is not None:
            requests.add(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())
    for path in sorted(DATA.glob("recordings/*/*.http-response")):
        answers.add(body_of(path))
    texts = requests | {text for answer in answers for text in messages(answer)}
    for number, text in enumerate(sorted(texts)):
        write("json", text)
        # Edits of `_meta`, `ui` and a name, in the message and, as a list, in what it holds.
        write("splice", bytes([6, 0xE0, 0x01, 0x18, 0x42, number % 256, 0x99]) + text)
        write("splice", bytes([5, number % 256, 0xC1, 0x09, 0x18, 0x00]) + b"[" + text + b" , " + text[:2000] + b"]")
    for path in sorted((DATA / "json" / "test_parsing").iterdir()):
        if path.stat().st_size < 5000:
            write("json", path.read_bytes())
    for number, answer in enumerate(sorted(answers)):
        write("sse", bytes([2, 7, 200, number % 4]) + answer)
        write("sse", bytes([0, number % 4]) + answer.replace(b"\n", b"\r\n"))
    for request in sorted(requests):
        write("request", request)
        write("request", b"[" + request + b"," + request.replace(b'"id":', b'"id":1') + b"]")
    # As `tests/hostile/recordings.rs` numbers them.
    for number, path in enumerate(sorted(DATA.glob("recordings/*/*.request.json"))):
        place = number.to_bytes(2, "big")
        body = json.loads(path.read_text())["body"]
        answer = body_of(path.with_name(path.name.replace(".request.json", ".http-response")))
        request = b"" if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        write("gate", bytes([number % STACKS]) + place + request)
        write("gate", bytes([STACKS + NAMESPACED]) + place + named(request))
        write("gate", bytes([STACKS + META_TOOLS]) + place + through(request))
        if len(answer) < 20000:
            write("answer", bytes([number % META_TOOLS, number % 5]) + place + answer)
            if b'"tools":[' in answer:
                write("answer", bytes([META_TOOLS, number % 5]) + place + in_text(messages(answer)[-1]))


main()
