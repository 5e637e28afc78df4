"""The layer's botocore holds what the functions call, and only that."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import botocore
import botocore.session
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader

from layers.build import slim
from tests.architecture.template import ROOT, template
from tools.bench.packages import ATTACHED

KEPT_BY_BOTOCORE = ("endpoints.json", "partitions.json", "sdk-default-configuration.json", "_retry.json")


@pytest.fixture(scope="module")
def slimmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Descriptions of some services, as pip installs them, then slimmed."""
    layer = tmp_path_factory.mktemp("layer")
    installed, data = Path(botocore.__file__).parent / "data", layer / "botocore" / "data"
    data.mkdir(parents=True)
    for name in KEPT_BY_BOTOCORE:
        shutil.copy(installed / name, data)
    for name in {*slim.SERVICES, "ec2", "sns"}:
        shutil.copytree(installed / name, data / name)
    subprocess.run([sys.executable, slim.__file__, layer], check=True)
    return data


def client_of(data: Path, service: str):
    session = botocore.session.Session()
    session.register_component(
        "data_loader", Loader(extra_search_paths=[str(data)], include_default_search_paths=False)
    )
    return session.create_client(
        service, region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )


def test_services_are_those_that_bootstrap_makes_clients_of() -> None:
    sources = (ROOT / "layers" / "core" / "whatsapp_agent").rglob("*.py")
    made = {name for path in sources for name in re.findall(r'boto3\.client\("(\w+)"', path.read_text("utf-8"))}
    assert made == slim.SERVICES


@pytest.mark.parametrize("service", sorted(slim.SERVICES))
def test_a_slimmed_client_is_the_same_client(slimmed: Path, service: str) -> None:
    session = botocore.session.Session()
    whole = session.create_client(
        service, region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    slim_one = client_of(slimmed, service)
    assert slim_one.meta.endpoint_url == whole.meta.endpoint_url
    for name in whole.meta.service_model.operation_names:
        mine, theirs = (each.meta.service_model.operation_model(name) for each in (slim_one, whole))
        for shape in ("input_shape", "output_shape"):
            one, other = getattr(mine, shape), getattr(theirs, shape)
            assert list(one.members if one else ()) == list(other.members if other else ())
            assert (one.required_members if one else ()) == (other.required_members if other else ())


def test_no_other_service_and_no_documentation_is_left(slimmed: Path) -> None:
    assert {path.name for path in slimmed.iterdir() if path.is_dir()} == slim.SERVICES
    assert '"documentation":"' not in (slimmed / "sqs" / "2012-11-05" / "service-2.json").read_text("utf-8")
    with pytest.raises(UnknownServiceError):
        client_of(slimmed, "sns")


def test_a_layer_without_botocores_data_is_an_error(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, slim.__file__, tmp_path], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "is missing" in run.stderr


def test_the_benchmark_attaches_layers_as_the_template_does() -> None:
    for name, layers in ATTACHED.items():
        function = template()["Resources"][f"{name.capitalize()}Function"]["Properties"]
        assert [layer["Ref"] for layer in function["Layers"]] == list(layers)
