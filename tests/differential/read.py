"""What Python's json makes of each body on stdin (four bytes of length, then the body): a line of JSON each, null where it takes the
body for no JSON."""

import json
import sys


def text(value):
    return value if isinstance(value, str) else None


def identifier(value):
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return {"number": repr(value)}


def message(value):
    value = value if isinstance(value, dict) else {}
    params = value.get("params")
    params = params if isinstance(params, dict) else {}
    return {
        "method": text(value.get("method")),
        "name": text(params.get("name")),
        "uri": text(params.get("uri")),
        "id": identifier(value.get("id")),
    }


def read(body):
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return [message(one) for one in (value if isinstance(value, list) else [value])]


def main():
    while length := sys.stdin.buffer.read(4):
        print(json.dumps(read(sys.stdin.buffer.read(int.from_bytes(length, "big")))))


main()
