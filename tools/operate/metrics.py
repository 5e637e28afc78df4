"""Sums of the functions' metrics from CloudWatch."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from whatsapp_agent.telemetry import NAMESPACE

_LONGEST_PERIOD = 86_400
_PER_CALL = 500


class CloudWatchFigures:
    """Implements `tools.operate.deployment.Figures`.

    Args:
        service: The dimension that the functions count under: the stack's name.
    """

    def __init__(self, client: Any, service: str) -> None:
        self._client = client
        self._service = service

    def sums(self, names: Sequence[str], since: datetime, until: datetime) -> dict[str, float] | None:
        """See `Figures.sums`. Costs one request per 500 metrics."""
        queries = [self._query(f"m{place}", name) for place, name in enumerate(names[:_PER_CALL])]
        found: dict[str, float] = {}
        pages = self._client.get_paginator("get_metric_data").paginate(
            MetricDataQueries=queries, StartTime=since, EndTime=until
        )
        for page in pages:
            for result in page["MetricDataResults"]:
                name = names[int(result["Id"].removeprefix("m"))]
                found[name] = found.get(name, 0.0) + sum(result.get("Values", ()))
        return found

    def _query(self, query_id: str, name: str) -> dict[str, Any]:
        metric = {
            "Namespace": NAMESPACE,
            "MetricName": name,
            "Dimensions": [{"Name": "service", "Value": self._service}],
        }
        return {
            "Id": query_id,
            "MetricStat": {"Metric": metric, "Period": _LONGEST_PERIOD, "Stat": "Sum"},
            "ReturnData": True,
        }


class NoFigures:
    """A deployment on the emulator, which makes no metrics of the functions' log lines."""

    def sums(
        self,
        names: Sequence[str],  # noqa: ARG002 - the protocol's signature
        since: datetime,  # noqa: ARG002
        until: datetime,  # noqa: ARG002
    ) -> dict[str, float] | None:
        """None."""
        return None
