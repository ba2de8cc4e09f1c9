"""Every source through proxies and with a company's certificates, as users set them: the same rows as directly.

The hosts' names exist for the proxies alone, so that nothing comes by another way.
"""

import ast
import os
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme
from faults.probe import Patience, quick, read
from faults.subject import Subject
from faults.subjects import MOMENT, subjects
from faults.wire import FaultServer
from mail_server import serving
from proxies import Proxy, running
from pydantic import SecretStr
from test_layers import imports, within
from web_site import open_site, send

import extract.web.http
import extract.web.polite
from extract.aws import client
from extract.base import Context
from extract.web import certificates
from flows.alerts import after_run
from flows.alerts.channels import chat
from flows.alerts.findings import Message
from flows.config import settings
from flows.mail.sending import Smtp
from warehouse.errors import SettingsError, SourceError, Unavailable

EXTRACT = Path(extract.web.http.__file__).parents[1]
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
ALWAYS = ("aws_price_list (api)", "aws_price_list (index)", "skypilot_catalog (commits)")
"""One source of each client: what a set-up changes is the client's; to git some are as others, or none."""
TELLING = ("HTTP_PROXY", "without a scheme", "SOCKS5 with password", "TLS inspected, ca_bundle", "NO_PROXY")
"""Each way at least once; all set-ups are in the long proofs."""
NOT_OF_GIT = ("HTTP_PROXY", "user and password", "ALL_PROXY", "SOCKS5")
PICKED = [each for each in subjects() if each.is_quick]
HOSTS = {(each.server or each.name): f"s{n}.prices.example" for n, each in enumerate(PICKED)}


@dataclass(frozen=True)
class Company:
    """All servers, once over HTTP and once over HTTPS, their authority, and what sources said without any proxy."""

    plain: Mapping[str, FaultServer]
    secure: Mapping[str, FaultServer]
    authority: Path
    certificate: ssl.SSLContext
    folder: Path
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def said(self, each: Subject) -> list[dict[str, Any]]:
        """Return what a source says without any proxy, asked once."""
        if each.name not in self.rows:
            server = (self.secure if each.is_secure else self.plain)[HOSTS[each.server or each.name]]
            with environment({}, self.authority, None):
                self.rows[each.name] = rows(each, server.url(), self.folder)
        return self.rows[each.name]


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
        yield Company(plain, secure, folder / "authority.pem", context, folder)


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
            web = extract.web.polite.PoliteWeb(web, pause_s=0.0)
        ctx = Context(web=web, settings=subject.settings(base), now=lambda: MOMENT)
        return read(subject, list(subject.looks(ctx)))


@pytest.mark.parametrize("chosen", [each for each in SET_UPS if each.name in TELLING], ids=lambda each: each.name)
def test_sources_are_fetched(chosen: SetUp, company: Company, tmp_path: Path) -> None:
    """One by boto3, one by HTTP, in most one by git; no other source has another client, as the test below says."""
    assert {*ALWAYS} < {each.name for each in PICKED}
    always = [each for each in PICKED if each.name in ALWAYS[: -1 if chosen.name in NOT_OF_GIT else None]]
    check(chosen, company, always, tmp_path)


CLIENTS = {
    "aiohttp", "boto3", "botocore", "ftplib", "http.client", "httpx", "requests", "socket", "ssl", "subprocess",
    "urllib.request", "urllib3",
}  # fmt: skip
"""Modules by which a source could reach a site past the settings of proxies and certificates."""
MAY = {"web": CLIENTS, "aws": {"botocore", "urllib.request"}, "catalogues": {"subprocess"}}
"""Those of them that a package of sources may have: the client by HTTP, that of AWS with paths of files, and git."""


def test_no_source_has_a_client_of_its_own() -> None:
    found = [
        (file.relative_to(EXTRACT).as_posix(), module)
        for file in EXTRACT.rglob("*.py")
        for _, module in imports(ast.parse(file.read_text(encoding="utf-8")), EXTRACT.parent)
        if within(module, tuple(CLIENTS)) and not within(module, tuple(MAY.get(file.relative_to(EXTRACT).parts[0], ())))
    ]
    assert found == []


@pytest.mark.prove
@pytest.mark.parametrize("chosen", SET_UPS, ids=lambda each: each.name)
def test_every_source_is_fetched(chosen: SetUp, company: Company, tmp_path: Path) -> None:
    """At length all sources in all set-ups."""
    check(chosen, company, PICKED, tmp_path)


def check(chosen: SetUp, company: Company, picked: Sequence[Subject], folder: Path) -> None:
    """Compare what sources say with what they say without a proxy; all requests have to go through it."""
    servers = company.secure if chosen.scheme == "https" and not chosen.inspects else company.plain
    inspects = company.certificate if chosen.inspects else None
    wanted = {HOSTS[each.server or each.name] for each in picked}
    expected = {each.name: company.said(each) for each in picked}
    with (
        running(
            route=lambda host: servers[host].port, speaks=chosen.speaks, login=chosen.login, inspects=inspects
        ) as proxy,
        environment(chosen.variables, company.authority, proxy),
    ):
        certificates.share(str(company.authority) if chosen.ca_bundle else "")
        found = {}
        for each in picked:
            host = HOSTS[each.server or each.name]
            if chosen.is_direct or (each.is_secure and chosen.scheme == "http"):
                base = (company.secure if each.is_secure else company.plain)[host].url()
                os.environ["GIT_SSL_CAINFO"] = str(company.authority)
                wanted.discard(host)
            else:
                base = f"{chosen.scheme}://{host}"
            found[each.name] = rows(each, base, folder)
    assert found == expected
    assert all(found.values())
    assert set(proxy.passed) == wanted
    assert proxy.refused == 0 or chosen.speaks == "http"  # git asks once without the password


# --- what goes wrong, and what is said


@contextmanager
def behind(company: Company, address: str, **chosen: Any) -> Iterator[Proxy]:
    """Give a proxy that all variables lead to, `address` with PROXY in it, and nothing trusted but the system."""
    servers = chosen.pop("servers", company.plain)
    variables = {"HTTP_PROXY": address, "HTTPS_PROXY": address}
    with (
        running(route=lambda host: servers[host].port, **chosen) as proxy,
        environment(variables, company.authority, proxy),
    ):
        yield proxy


def by_http(url: str) -> None:
    extract.web.http.HttpWeb().get(url)


def by_boto3(url: str) -> None:
    os.environ["AWS_ENDPOINT_URL_PRICING"] = url
    call = client.Call(
        source="aws_price_list", scope="us-east-1", operation="pricing.DescribeServices", result="Services",
        hint="Give credentials",
    )  # fmt: skip
    next(call.pages(call.client(), {}))


@pytest.mark.parametrize("ask", [by_http, by_boto3])
@pytest.mark.parametrize(
    ("address", "url", "options"),
    [
        ("http://PROXY", "http://s0.prices.example", {}),
        ("http://rae:wrong-password@PROXY", "https://s0.prices.example", {}),
        ("http://rae:wrong-password@PROXY", "http://s0.prices.example", {}),
        ("socks5h://PROXY", "https://s0.prices.example", {"speaks": "socks"}),
        ("socks5h://rae:wrong-password@PROXY", "https://s0.prices.example", {"speaks": "socks"}),
    ],
)
def test_a_proxy_that_wants_a_password_says_so(
    company: Company, address: str, url: str, options: dict[str, str], ask: Callable[[str], None]
) -> None:
    """The proxy is named, not the password; it is asked once, and the hint shows how to write the variable."""
    with behind(company, address, login=LOGIN, **options) as proxy, pytest.raises(SourceError) as caught:
        ask(url)
    said = str(caught.value)
    assert not isinstance(caught.value, Unavailable)
    assert "proxy" in said
    assert "speaks" in options or "407" in said
    assert "http://USER:PASSWORD@HOST:PORT" in caught.value.hint
    assert "wrong-password" not in said + repr(caught.value.as_dict())
    assert (proxy.refused, proxy.passed) == (1, [])


@pytest.mark.parametrize("ask", [by_http, by_boto3])
@pytest.mark.parametrize(
    ("address", "value"),
    [("socks4://127.0.0.1:1080", "socks4"), ("ftp://u:secret-1@proxy", "ftp"), ("http://", "(hidden)")],
)
def test_a_proxy_of_another_kind_is_a_wrong_setting(
    company: Company, address: str, value: str, ask: Callable[[str], None]
) -> None:
    """The variable is named, and what is allowed; a password in it is not shown."""
    with behind(company, address), pytest.raises(SettingsError) as caught:
        ask("https://s0.prices.example")
    assert (caught.value.field, caught.value.value) in {("HTTP_PROXY", value), ("HTTPS_PROXY", value)}
    assert "http://USER:PASSWORD@HOST:PORT" in caught.value.hint
    assert "secret-1" not in str(caught.value)


@pytest.mark.parametrize("ask", [by_http, by_boto3])
def test_an_unknown_authority_is_named_with_the_setting(company: Company, ask: Callable[[str], None]) -> None:
    """It will not pass by itself, so it is asked once."""
    with behind(company, "http://PROXY", inspects=company.certificate) as proxy:
        with pytest.raises(SourceError, match="certificate is not trusted") as caught:
            ask("https://s0.prices.example")
        assert "ca_bundle" in caught.value.hint
        assert not isinstance(caught.value, Unavailable)
        assert len(proxy.passed) == 1


@pytest.mark.parametrize("ask", [by_http, by_boto3])
def test_a_proxy_that_is_down_is_named(company: Company, ask: Callable[[str], None]) -> None:
    with (
        environment({"HTTPS_PROXY": f"http://{DEAD}"}, company.authority, None),
        pytest.raises(Unavailable, match=f"through the proxy {DEAD}"),
    ):
        ask("https://s0.prices.example")


def test_a_proxy_that_speaks_no_socks_is_an_error(company: Company) -> None:
    """Not a failed assertion of a library."""
    with behind(company, "socks5h://PROXY", speaks="mail"), pytest.raises(Unavailable, match="does not speak SOCKS5"):
        by_http("https://s0.prices.example")


@pytest.mark.parametrize("content", [None, b"", b"no certificate at all"])
def test_a_file_without_certificates_is_a_wrong_setting(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match="certificates cannot be read") as caught:
        settings.read(environ={"CHIPLEDGER_NETWORK__CA_BUNDLE": str(file)})
    assert (caught.value.field, caught.value.value) == ("ca_bundle", str(file))


def test_a_company_is_trusted_in_addition(company: Company, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One file for every client: authorities of the system, of a machine that sets all variables, and the company's."""
    machine, own = tmp_path / "machine.pem", tmp_path / "own.pem"
    trustme.CA().cert_pem.write_to_path(str(machine))
    own.write_bytes(company.authority.read_bytes())
    for name in certificates.VARIABLES:
        monkeypatch.setenv(name, str(machine))
    settings.read(environ={"CHIPLEDGER_NETWORK__CA_BUNDLE": str(own)})
    (file,) = {os.environ[name] for name in certificates.VARIABLES}
    trusted = ssl.create_default_context(cafile=file).get_ca_certs(binary_form=True)
    assert {ssl.PEM_cert_to_DER_cert(each.read_text()) for each in (own, machine)} <= {*trusted}
    assert len(trusted) > 50


# --- other clients


def test_every_other_client_trusts_the_company(company: Company) -> None:
    """Alerts by requests, the heartbeat, and mail: by the one setting, through the proxy that inspects TLS."""
    with open_site() as site:
        site.answers["/alive"] = [send(b"ok")]
        site.answers["/hook"] = [send(b"{}")]
        hosts = {"chat.prices.example": site.server.server_port, "alive.prices.example": site.server.server_port}
        with (
            running(route=lambda host: hosts[host], inspects=company.certificate) as proxy,
            environment({"HTTPS_PROXY": "PROXY"}, company.authority, proxy),
        ):
            chosen = settings.read(
                environ={
                    "CHIPLEDGER_NETWORK__CA_BUNDLE": str(company.authority),
                    "CHIPLEDGER_HEARTBEAT_URL": "https://alive.prices.example/alive",
                }
            )
            after_run.call_heartbeat(chosen)
            told = Message(kind="test", title="t", text="x", ids=("1",))
            chat("jsons://chat.prices.example/hook", number=1).send(told, at=MOMENT, before=lambda: None)
            assert [asked.path for asked in site.asked] == ["/alive", "/hook"]
            assert proxy.passed == ["alive.prices.example", "chat.prices.example"]


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
def test_mail_trusts_the_company(company: Company, tls: str, tmp_path: Path) -> None:
    with serving(tls=tls) as server, environment({"SSL_CERT_FILE": "AUTHORITY"}, company.authority, None) as patch:
        chosen = settings.MailSettings(
            sender="a@example.com", to=("b@example.com",), host="localhost", port=server.port, tls=tls,
            user="me", password=SecretStr("secret"),
        )  # fmt: skip
        with pytest.raises(ssl.SSLCertVerificationError):
            Smtp(chosen).greet()
        patch.delenv("SSL_CERT_FILE")
        (tmp_path / "authority.pem").write_bytes(server.authority)
        certificates.share(str(tmp_path / "authority.pem"))
        Smtp(chosen).greet()
