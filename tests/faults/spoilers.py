"""What goes wrong on the wire, as functions that spoil an answer."""

import functools
import io
import json
import re
import socket
import struct
import zipfile
from collections.abc import Callable

import pyarrow as pa

from faults.wire import Exchange, Hangup, Spoil, bomb

BOMB_MIB = 1024
DRIP_S = 0.02


def cut(after: Callable[[int], int], *, reset: bool = False, announced: bool = True) -> Spoil:
    def spoil(x: Exchange) -> None:
        body = x.answer.body
        x.head(x.answer.status, str(len(body)) if announced else None, Connection="close")
        x.write(body[: after(len(body))])
        hang_up(x, reset=reset)

    return spoil


def hang_up(x: Exchange, *, reset: bool = False) -> None:
    if reset:
        x.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Hangup


def silent(x: Exchange) -> None:
    x.pause(30)
    raise Hangup


def drip_head(x: Exchange) -> None:
    x.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        x.write(b"a")
        x.pause(DRIP_S)


def drip_continue(x: Exchange) -> None:
    while True:
        x.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        x.pause(DRIP_S)


def drip_body(x: Exchange) -> None:
    x.head(200, "1000000000")
    while True:
        for byte in x.answer.body or b" ":
            x.write(bytes((byte,)))
            x.pause(DRIP_S)


def drip_chunks(x: Exchange) -> None:
    x.head(Transfer_Encoding="chunked")
    while True:
        for byte in x.answer.body or b" ":
            x.write(b"1\r\n%c\r\n" % byte)
            x.pause(DRIP_S)


def endless(x: Exchange) -> None:
    """The right beginning, then more and more of what its end looks like."""
    x.head(Connection="close")
    x.write(x.answer.body)
    line = x.answer.body.rstrip().rpartition(b"\n")[2][:4096] + b"\n"
    block = line * ((1 << 20) // len(line))
    while True:
        x.write(block)


def endless_chunks(x: Exchange) -> None:
    x.head(Transfer_Encoding="chunked")
    block = b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20))
    while True:
        x.write(block)


def endless_refusal(x: Exchange) -> None:
    x.head(403, None, Connection="close")
    block = b"no\n" * (1 << 18)
    while True:
        x.write(block)


packed_zeros = functools.cache(bomb)


def gzip_bomb(x: Exchange) -> None:
    x.send(packed_zeros(BOMB_MIB), status=200, Content_Encoding="gzip")


def zstd_bomb(x: Exchange) -> None:
    """Send zeros, a MiB in each of many frames."""
    x.send(pa.compress(bytes(1 << 20), codec="zstd", asbytes=True) * BOMB_MIB)


def zstd_lines(x: Exchange) -> None:
    """Send the right lines over and over."""
    lines = pa.CompressedInputStream(pa.BufferReader(x.answer.body), "zstd").read()
    x.send(pa.compress(lines * ((1 << 20) // len(lines)), codec="zstd", asbytes=True) * BOMB_MIB)


@functools.cache
def zip_zeros(name: str, mebibytes: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        for _ in range(mebibytes):
            member.write(bytes(1 << 20))
    return packed.getvalue()


def zip_bomb(x: Exchange) -> None:
    x.send(zip_zeros("eurofxref-hist.csv", 64))


def header_bomb(x: Exchange) -> None:
    x.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(1000):
        x.write(b"X-Header: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" * 200)


def header_line(x: Exchange) -> None:
    x.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        x.write(b"a" * (1 << 16))


def cut_head(x: Exchange) -> None:
    x.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-More: a")
    hang_up(x)


def raw(data: bytes) -> Spoil:
    def spoil(x: Exchange) -> None:
        x.write(data)
        hang_up(x)

    return spoil


def status(number: int, *, retry_after: str = "") -> Spoil:
    told = {"Retry_After": retry_after} if retry_after else {}
    if number in (204, 304):
        return lambda x: x.head(number)

    def spoil(x: Exchange) -> None:
        x.head(number, "2", **told)
        x.write(b"no")

    return spoil


def moved(location: str) -> Spoil:
    return lambda x: x.send(b"", status=302, Location=location.replace("{path}", x.path))


def edited(change: Callable[[bytes], bytes]) -> Spoil:
    return lambda x: x.send(change(x.answer.body))


def sent(name: str, value: str) -> Spoil:
    """Send the right body under a header that is wrong."""

    def spoil(x: Exchange) -> None:
        x.head(200, str(len(x.answer.body)), **{name: value})
        x.write(x.answer.body)

    return spoil


def lying(by: int) -> Spoil:
    """Announce another length than comes; where less is announced, the rest is on the wire all the same."""

    def spoil(x: Exchange) -> None:
        x.send(None, length=str(max(0, len(x.answer.body) + by)), Connection="close")
        hang_up(x)

    return spoil


def chunked(x: Exchange, *, last: bytes) -> None:
    half = len(x.answer.body) // 2
    x.head(Transfer_Encoding="chunked")
    x.write(b"%x\r\n%s\r\n" % (half, x.answer.body[:half]) + last)
    hang_up(x)


NUMBER = re.compile(rb'(?<=[\s:"$>,])\d+\.\d+(?=[\s"<,}\]/\\])|(?<=:)\d+(?=[,}])|(?<=: )\d+(?=[,\n}])')
MEMBER = re.compile(rb'(\\?"[\w.-]+\\?"\s*:\s*)((?:\\?")?)(\d+(?:\.\d+)?)(\2)(?=\s*[,}\n\]])')


def numbers(word: bytes) -> Spoil:
    """Put a word in place of every number of the document."""
    return edited(lambda body: NUMBER.sub(word.replace(b"\\", rb"\\"), body))


def twice(body: bytes) -> bytes:
    """Give every member of an object that is a number a second value, which is another."""
    return MEMBER.sub(rb"\1\2\3\4, \1\g<2>0.0123\4", body)


def nested(x: Exchange) -> None:
    deep = 100_000
    start = x.answer.body.lstrip()[:1]
    if start == b"<":
        x.send(b"<html><body>" + b"<div>" * deep + b"1" + b"</div>" * deep)
    else:
        x.send(b'{"a":' * deep + b"1" + b"}" * deep)


TOKEN = re.compile(rb'&?NextToken=[^&]*|,? ?"[nN]extToken": ?"[^"]*"')


def same_page(x: Exchange) -> None:
    """Answer every question about more with the first page."""
    key = x.path.partition("?")[0].encode() + TOKEN.sub(b"", x.asked)
    x.send(x.memory.setdefault(key.decode("latin-1"), x.answer.body))


def tokens(body: bytes, token: Callable[[], str]) -> bytes:
    """Say that there is another page."""
    if body.lstrip().startswith(b"<"):
        plain = re.sub(rb"<nextToken>.*?</nextToken>|<nextToken\s*/>", b"", body)
        end = plain.rstrip().rfind(b"</")
        return plain[:end] + b"<nextToken>%s</nextToken>" % token().encode() + plain[end:]
    page = json.loads(body)
    name = "nextToken" if "searchResults" in page else "NextToken"
    return json.dumps({**page, name: token()}).encode()


def more(token: Callable[[], str]) -> Spoil:
    return edited(lambda body: tokens(body, token))


LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in</h1><p>9.99</p></body></html>"


def utf16(body: bytes) -> bytes:
    return body.decode("utf-8").encode("utf-16")
