"""A stand-in for AWS: the Price List's API, for unmodified boto3, its bulk files, Savings Plans, EC2, and quotas.

    with aws.StandIn() as standin:
        os.environ |= standin.environment()
        standin.fault("bulk:us-west-2", faults.Truncate(at=0.5), times=1)
        ...
        assert standin.count("bulk:us-west-2") == 2

Faults and counts find requests by label, with * and ? as in file names:

    api  api:GetProducts  api:us-west-2  api:GetProducts:us-west-2  (region: the filter on regionCode)
    ec2  ec2:DescribeRegions  ec2:us-east-1  ec2:DescribeRegions:us-east-1  (region: the endpoint's)
    savings, plans: see standin.savings_plans; quotas: see standin.quotas
    bulk  bulk:index  bulk:versions  bulk:regions  bulk:prices  bulk:us-west-2  bulk:us-west-2:20261001200000
    /offers/v1.0/aws/AmazonEC2/index.json  (any path)
"""

import fnmatch
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from standin import api, bulk, ec2, ec2_cloud, quotas, savings_plans, world
from standin.catalogue import Catalogue, Edition, Product
from standin.exchange import Answer, Request
from standin.faults import Effect
from standin.server import LoopbackServer

TARGET_PREFIX = "AWSPriceListService."


@dataclass(kw_only=True)
class Fault:
    """Effects on the requests of one label: after the first `after` ones, for `times` of them (None: for good)."""

    target: str
    effects: tuple[Effect, ...]
    times: int | None
    after: int
    hits: int = 0

    def strikes(self, labels: Sequence[str]) -> bool:
        """Return whether the effects apply to this request, which is thereby counted."""
        if not _matches(labels, self.target):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        self.hits += 1
        return True


class StandIn:
    """The stand-in: start it as a context, or with start and stop.

    Settings may be changed while it runs. `latency` is the delay of every answer in seconds. `page_sizes` are the most
    items that the first, second, ... page of the API holds, over and over; with a zero among them, pages are empty
    although more follow. `empty_last_token` ends paging with "" in place of no token. `stated_bytes` is the size
    that a HEAD of any file states, in place of the true one; such requests are neither counted nor spoiled.
    """

    def __init__(self, *catalogues: Catalogue, latency: float = 0.0, page_sizes: Sequence[int] = (100,)) -> None:
        self.catalogues = {each.partition: each for each in catalogues or (world.aws(), world.china())}
        self.cloud = ec2_cloud.cloud()
        self.savings = savings_plans.plans()
        self.quotas = quotas.ServiceQuotas()
        self.latency = latency
        self.page_sizes = page_sizes
        self.empty_last_token = False
        self.stated_bytes: int | None = None
        self.requests: list[Request] = []
        self._tree: Path | None = None
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._server = LoopbackServer(self._handle)

    # --- running

    @property
    def url(self) -> str:
        """Return the base of the bulk files' addresses, which is the API's endpoint too."""
        return self._server.url

    def environment(self) -> dict[str, str]:
        """Return what makes an unmodified boto3, here or in another process, call the stand-in."""
        return {
            "AWS_ENDPOINT_URL_PRICING": self.url,
            "AWS_ENDPOINT_URL_EC2": self.url,
            "AWS_ENDPOINT_URL_SAVINGSPLANS": self.url,
            "AWS_ENDPOINT_URL_SERVICE_QUOTAS": self.url,
            "AWS_ACCESS_KEY_ID": api.ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": api.SECRET_KEY,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }

    def start(self) -> Self:
        self._server.start()
        return self

    def stop(self) -> None:
        self._server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # --- what it serves

    def publish(self, edition: Edition, *, partition: str = "aws") -> None:
        """Make an edition the current one of a partition."""
        self.catalogues[partition] = self.catalogues[partition].published(edition)

    def serve_tree(self, root: Path) -> None:
        """Serve bulk files from a folder that has /offers/... below it, in place of the catalogue's."""
        self._tree = root

    # --- faults and counts

    def fault(self, target: str, *effects: Effect, times: int | None = None, after: int = 0) -> Fault:
        """Let something go wrong for requests with a label; several faults add up, in order."""
        fault = Fault(target=target, effects=effects, times=times, after=after)
        with self._lock:
            self._faults.append(fault)
        return fault

    def heal(self) -> None:
        """Take all faults away."""
        with self._lock:
            self._faults.clear()

    def forget(self) -> None:
        """Start counting anew."""
        with self._lock:
            self.requests.clear()

    def seen(self, target: str = "*") -> list[Request]:
        """Return the requests with a label, in the order in which they came."""
        with self._lock:
            return [request for request in self.requests if _matches(request.labels, target)]

    def count(self, target: str = "*") -> int:
        return len(self.seen(target))

    # --- answering

    def _handle(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Answer, Callable[[], None]]:
        request = self._request(method, urlsplit(path).path, headers, body)
        if method == "HEAD":
            size = {"Content-Length": str(self.stated_bytes)} if self.stated_bytes is not None else {}
            return replace(self._answer(request, lambda products: products), headers=size), lambda: None
        with self._lock:
            self.requests.append(request)
            effects = [effect for fault in self._faults if fault.strikes(request.labels) for effect in fault.effects]

        def spoil(products: tuple[Product, ...]) -> tuple[Product, ...]:
            return reduce(lambda each, effect: effect.products(each), effects, products)

        answer = self._answer(request, spoil)
        answer = replace(answer, delay=self.latency)
        answer = reduce(lambda each, effect: effect.answer(each), effects, answer)
        request.status = answer.status

        def ended() -> None:
            request.until = time.monotonic()

        return answer, ended

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Request:
        request = Request(method=method, path=path, labels=(path,), headers=headers, at=time.monotonic())
        _, region, service = ec2.signed_for(headers)
        if method != "POST":
            where = bulk.place(path)
            labels = savings_plans.bulk_labels(path) or (*(where.labels if where.kind else ()), path)
            return replace(request, labels=labels, region=where.region)
        if service == "ec2":
            parameters: Mapping[str, object] = ec2.parameters_of(body)
            operation = str(parameters.get("Action", ""))
            labels = ("ec2", f"ec2:{operation}", f"ec2:{region}", f"ec2:{operation}:{region}")
        elif service == "savingsplans":
            parameters = json.loads(body or b"{}")
            operation, labels = path.lstrip("/"), savings_plans.labels(parameters)
        elif service == "servicequotas":
            parameters = json.loads(body or b"{}")
            operation = headers.get("x-amz-target", "").removeprefix(quotas.TARGET_PREFIX)
            labels = quotas.labels(operation, region)
        else:
            parameters = json.loads(body or b"{}")
            operation, region = (
                headers.get("x-amz-target", "").removeprefix(TARGET_PREFIX),
                api.region_filter(parameters),
            )
            labels = ("api", f"api:{operation}", f"api:{region}", f"api:{operation}:{region}")
        return replace(request, labels=labels, operation=operation, region=region, parameters=parameters)

    def _answer(self, request: Request, spoil: api.Spoil) -> Answer:
        match request.labels[0]:
            case "ec2":
                parameters = {name: str(value) for name, value in request.parameters.items()}
                return ec2.answer(parameters, request.headers, self.cloud, key=api.ACCESS_KEY)
            case "savings":
                return savings_plans.answer(request.parameters, request.headers, self.savings)
            case "quotas":
                key, region, _ = ec2.signed_for(request.headers)
                return quotas.answer(request.operation, request.parameters, region, key, self.quotas)
            case "plans" if self._tree is None:
                return savings_plans.bulk_answer(request.path, self.savings)
        return self._api(request, spoil) if request.method == "POST" else self._bulk(request, spoil)

    def _api(self, request: Request, spoil: api.Spoil) -> Answer:
        try:
            partition = api.partition_of(request.headers)
            call = api.Call(
                parameters=request.parameters,
                catalogue=self.catalogues[partition],
                page_sizes=self.page_sizes,
                empty_last_token=self.empty_last_token,
                spoil=spoil,
            )
            return api.answer(request.operation, call)
        except api.ApiFailureError as failure:
            return failure.answer()

    def _bulk(self, request: Request, spoil: api.Spoil) -> Answer:
        if self._tree is not None:
            return bulk.from_tree(self._tree, request.path)
        return bulk.answer(bulk.place(request.path), self.catalogues, spoil)


def _matches(labels: Sequence[str], target: str) -> bool:
    return any(fnmatch.fnmatchcase(label, target) for label in labels)
