"""Every source through proxies and with a company's certificates, as users set them: the same rows as directly.

The hosts' names exist for the proxies alone, so that nothing comes by another way.
"""

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
from faults.probe import Patience, quick, read
from faults.subject import Subject
from faults.subjects import MOMENT, subjects
from faults.wire import FaultServer
from proxies import Proxy, running

import extract.web.http
import extract.web.polite
from extract.base import Context
from extract.web import certificates

USER, PASSWORD = "rae@corp", "p#s/s:w0rd%"
LOGIN = f"{USER}:{PASSWORD}"
WRITTEN = "rae%40corp:p%23s%2Fs%3Aw0rd%25"
"""The same, as it has to be written in an address."""
DEAD = "127.0.0.1:9"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """What a company gives its users: a proxy and variables; PROXY and AUTHORITY in these are filled in.

    `scheme` is that of the hosts. `ca_bundle` is set in [network]. `is_direct` ones bypass the proxy.
    """

    name: str
    variables: Mapping[str, str]
    scheme: str = "https"
    speaks: str = "http"
    login: str = ""
    inspects: bool = False
    ca_bundle: bool = False
    is_direct: bool = False


TRUSTED = {"SSL_CERT_FILE": "AUTHORITY"}
SET_UPS = (
    SetUp(name="HTTP_PROXY", variables={"HTTP_PROXY": "http://PROXY", "http_proxy": "http://PROXY"}, scheme="http"),
    SetUp(
        name="user and password", variables={"HTTPS_PROXY": f"http://{WRITTEN}@PROXY", **TRUSTED}, login=LOGIN
    ),
    SetUp(name="without a scheme", variables={"HTTPS_PROXY": f"{WRITTEN}@PROXY", **TRUSTED}, login=LOGIN),
    SetUp(name="ALL_PROXY", variables={"ALL_PROXY": "http://PROXY", **TRUSTED}),
    SetUp(name="SOCKS5", variables={"ALL_PROXY": "socks5h://PROXY", **TRUSTED}, speaks="socks"),
    SetUp(
        name="SOCKS5 with password", variables={"HTTPS_PROXY": f"socks5h://{WRITTEN}@PROXY", **TRUSTED},
        speaks="socks", login=LOGIN,
    ),
    SetUp(
        name="TLS inspected, ca_bundle", variables={"HTTPS_PROXY": "http://PROXY"}, inspects=True, ca_bundle=True
    ),
    SetUp(
        name="TLS inspected, REQUESTS_CA_BUNDLE", inspects=True,
        variables={"https_proxy": f"http://{WRITTEN}@PROXY", "REQUESTS_CA_BUNDLE": "AUTHORITY"}, login=LOGIN,
    ),
    SetUp(
        name="TLS inspected, AWS_CA_BUNDLE", inspects=True,
        variables={"all_proxy": "socks5h://PROXY", "AWS_CA_BUNDLE": "AUTHORITY"}, speaks="socks",
    ),
    SetUp(
        name="NO_PROXY", scheme="http", is_direct=True,
        variables={"HTTP_PROXY": DEAD, "HTTPS_PROXY": DEAD, "ALL_PROXY": DEAD, "NO_PROXY": "prices.example,127.0.0.1"},
    ),
)  # fmt: skip
PICKED = [each for each in subjects() if each.is_quick]
HOSTS = {(each.server or each.name): f"s{n}.prices.example" for n, each in enumerate(PICKED)}


@dataclass(frozen=True)
class Company:
    """All servers, once over HTTP and once over HTTPS, their authority, and what sources say without any proxy."""

    plain: Mapping[str, FaultServer]
    secure: Mapping[str, FaultServer]
    authority: Path
    certificate: ssl.SSLContext
    rows: Mapping[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """Return the servers, running."""
    folder = tmp_path_factory.mktemp("company")
    made = trustme.CA()
    made.cert_pem.write_to_path(str(folder / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.issue_cert("*.prices.example", "127.0.0.1").configure_cert(context)
    with ExitStack() as stack:
        plain, secure = {}, {}
        for each in PICKED:
            host = HOSTS[each.server or each.name]
            if host not in plain:
                plain[host] = stack.enter_context(FaultServer(handle=each.handle))
                secure[host] = stack.enter_context(FaultServer(handle=each.handle, tls=context))
        direct = {}
        for each in PICKED:
            server = (secure if each.is_secure else plain)[HOSTS[each.server or each.name]]
            with environment({}, folder / "authority.pem", None):
                direct[each.name] = rows(each, server.url(), folder)
        yield Company(plain, secure, folder / "authority.pem", context, direct)


@contextmanager
def environment(variables: Mapping[str, str], authority: Path, proxy: Proxy | None) -> Iterator[pytest.MonkeyPatch]:
    """Set variables and no others that name a proxy or certificates, and quick retries."""
    with pytest.MonkeyPatch.context() as patch, quick(patch, Patience()):
        for name in (*VARIABLES, *certificates.VARIABLES):
            patch.delenv(name, raising=False)
            patch.setenv(name, "x")  # so that it is removed again, whoever sets it
            patch.delenv(name)
        if not variables:
            patch.setenv("GIT_SSL_CAINFO", str(authority))
        for name, value in variables.items():
            address = proxy.address if proxy else ""
            patch.setenv(name, value.replace("PROXY", address).replace("AUTHORITY", str(authority)))
        yield patch


def rows(subject: Subject, base: str, folder: Path) -> list[dict[str, Any]]:
    """Return what a source says, fetched from an address."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in subject.environment(base).items():
            patch.setenv(name, value)
        subject.prepare(base, folder, patch)
        web: Any = extract.web.http.HttpWeb()
        if subject.source.polite:
            web = extract.web.polite.PoliteWeb(web, spare_loopback=False, pause_s=0.0)
        ctx = Context(web=web, settings=subject.settings(base), now=lambda: MOMENT)
        return read(subject, list(subject.looks(ctx)))


@pytest.mark.parametrize("chosen", SET_UPS, ids=lambda each: each.name)
def test_every_source_is_fetched(chosen: SetUp, company: Company, tmp_path: Path) -> None:
    """The same rows as without a proxy, and all requests through it."""
    servers = company.secure if chosen.scheme == "https" and not chosen.inspects else company.plain
    inspects = company.certificate if chosen.inspects else None
    wanted = {HOSTS[each.server or each.name] for each in PICKED}
    with (
        running(
            route=lambda host: servers[host].port, speaks=chosen.speaks, login=chosen.login, inspects=inspects
        ) as proxy,
        environment(chosen.variables, company.authority, proxy),
    ):
        certificates.share(str(company.authority) if chosen.ca_bundle else "")
        found = {}
        for each in PICKED:
            host = HOSTS[each.server or each.name]
            if chosen.is_direct or (each.is_secure and chosen.scheme == "http"):
                base = (company.secure if each.is_secure else company.plain)[host].url()
                os.environ["GIT_SSL_CAINFO"] = str(company.authority)
                wanted.discard(host)
            else:
                base = f"{chosen.scheme}://{host}"
            found[each.name] = rows(each, base, tmp_path)
    assert found == company.rows
    assert set(proxy.passed) == wanted
    assert proxy.refused == 0 or chosen.speaks == "http"  # git asks once without the password
