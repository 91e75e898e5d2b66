"""The files for containers and machines name options that exist, and pass programs' checks."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
COMMANDS = (DEPLOY.parent / "docs/reference/commands.md").read_text()


def checked(*command, **environment):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment}
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "bayesift.service"])
def test_options_and_settings_exist(name):
    content = (DEPLOY / name).read_text()
    serve = COMMANDS.partition("bayesift serve")[2]
    for option in re.findall(r'(?<=[ "])--(?:data|host|proxy|port|database)\b', content):
        assert option in serve
    for setting in re.findall(r"BAYESIFT_(?:CACHE|DATABASE)", content):
        sources = (DEPLOY.parent / "src").rglob("*.py")
        assert any(setting in source.read_text() for source in sources)


def test_the_health_check_asks_a_route_that_exists():
    from bayesift.service.app import status

    assert "/healthz" in [route.path for route in status.routes]
    assert "/healthz" in (DEPLOY / "Dockerfile").read_text()


def test_the_proxy_of_the_composition_is_the_one_that_is_believed():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    address = services["caddy"]["networks"]["inside"]["ipv4_address"]
    assert services["bayesift"]["command"] == ["--proxy", address]
    assert "ports" not in services["bayesift"]


def test_alerts_use_metrics_that_exist():
    rules = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text())
    sources = ("service/runtime.py", "service/models/watch.py")
    known = "".join((DEPLOY.parent / "src/bayesift" / name).read_text() for name in sources)
    for rule in rules["groups"][0]["rules"]:
        for metric in re.findall(r"bayesift_\w+", rule["expr"]):
            assert re.sub(r"_(total|bucket)$", "", metric) in known, metric


def test_caddy_accepts_its_file():
    code, said = checked(
        "caddy",
        "validate",
        "--config",
        str(DEPLOY / "Caddyfile"),
        "--adapter",
        "caddyfile",
        BAYESIFT_HOST="bayesift.example.org",
        HOME="/tmp",
    )
    assert code == 0, said


def test_systemd_accepts_the_unit(tmp_path):
    # The program need not be installed here.
    unit = (DEPLOY / "bayesift.service").read_text()
    unit = re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", unit)
    (tmp_path / "bayesift.service").write_text(unit)
    code, said = checked("systemd-analyze", "verify", str(tmp_path / "bayesift.service"))
    assert code == 0, said
