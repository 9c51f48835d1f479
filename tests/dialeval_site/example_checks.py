"""What an example in a document must hold to, by the program that it starts: options and files that
exist."""

from __future__ import annotations

import argparse
import importlib.util
import re
from pathlib import Path

import yaml
from django.core.management import get_commands, load_command_class

from tests.site import PROJECT


def parser_of(name: str) -> argparse.ArgumentParser:
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


def check_management(arguments: list[str]) -> None:
    name, *rest = arguments
    assert name in get_commands(), name
    parser_of(name).parse_args(rest)  # raises CommandError where it does not understand


def check_pip(arguments: list[str]) -> None:
    from pip._internal.commands import create_command

    name, *rest = arguments
    create_command(name).parse_args(rest)


def check_make(arguments: list[str]) -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for target in arguments:
        assert (
            re.search(rf"^{re.escape(target)}:", makefile, flags=re.MULTILINE) or "=" in target
        ), target


def check_module(arguments: list[str]) -> None:
    _, module, *rest = arguments
    assert arguments[0] == "-m"
    assert importlib.util.find_spec(module), module
    PARSERS_OF_MODULES.get(module, check_options_in_the_source)(module, rest)


def check_options_in_the_source(module: str, arguments: list[str]) -> None:
    """Of programs whose parser cannot be had alone."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    source = Path(found.origin).read_text(encoding="utf-8")
    assert [one for one in arguments if one.startswith("--") and f'"{one}"' not in source] == []


def check_launcher(arguments: list[str]) -> None:
    """``accelerate launch`` and ``torchrun``: their own options, then a command of ours."""
    place = arguments.index("manage.py")
    check_management(arguments[place + 1 :])
    if arguments[0] == "launch":
        from accelerate.commands.launch import launch_command_parser as parser

        known = parser().parse_args(arguments[1:])
    else:
        from torch.distributed.run import get_args_parser

        known = get_args_parser().parse_args(arguments)
    assert known.training_script == "manage.py"


def check_celery(arguments: list[str]) -> None:
    import click
    from celery.bin.worker import worker

    assert arguments[:3] == ["-A", "dialeval_site", "worker"]
    worker.make_parser(click.Context(worker)).parse_args(arguments[3:])


def check_gunicorn(arguments: list[str]) -> None:
    from gunicorn.config import Config

    assert Config().parser().parse_args(arguments).args == ["dialeval_site.wsgi"]


def check_dialeval(arguments: list[str]) -> None:
    from leaderboard.client.main import _parser

    assert callable(_parser().parse_args(arguments).run)


def check_baselines(_: str, arguments: list[str]) -> None:
    from workers.baselines.__main__ import _parser

    _parser().parse_args(arguments)


def check_pytest(_: str, arguments: list[str]) -> None:
    """A path of an example is there; pytest's own options are pytest's affair."""
    for path in arguments:
        assert not path.startswith("tests/") or (PROJECT / path).exists(), path


PARSERS_OF_MODULES = {
    "workers.baselines": check_baselines,
    "pytest": check_pytest,
    "tests.services": check_pytest,
}


def check_copy(arguments: list[str]) -> None:
    *sources, _ = arguments
    assert all(list(PROJECT.glob(source)) for source in sources), sources


def check_install(arguments: list[str]) -> None:
    """A folder that is made, or a file of ours that is copied."""
    if "-d" not in arguments:
        check_copy(arguments[-2:])


def check_docker(arguments: list[str]) -> None:
    if arguments[0] in {"stop", "rm"}:
        for name in arguments[1:]:
            service = re.fullmatch(r"dialeval-([\w-]+)-\d+", name)
            assert service, name
            assert service[1] in services(), name
        return
    check_compose(arguments)


def services() -> set[str]:
    return set(
        yaml.safe_load((PROJECT / "deploy/compose.yaml").read_text(encoding="utf-8"))["services"]
    )


def check_compose(arguments: list[str]) -> None:
    """``run`` beside a site starts nothing else: ``migrate`` may be of a newer image than the site
    that runs."""
    assert arguments[0] == "compose"
    command = arguments[arguments.index("-f") + 2 :]
    if command[0] == "run":
        assert "--no-deps" in command, command
    if command[0] in {"build", "stop"}:
        assert set(command[1:]) <= services(), command
    assert (PROJECT / arguments[arguments.index("-f") + 1]).exists()
    check_what_comes_after_manage(arguments)


def check_what_comes_after_manage(arguments: list[str]) -> None:
    if "manage.py" in arguments:
        check_management(arguments[arguments.index("manage.py") + 1 :])


def check_systemd_run(arguments: list[str]) -> None:
    """As the services have it: their user, environment, folder and Python."""
    service = (
        (PROJECT / "deploy" / "systemd" / "dialeval-migrate.service")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    assert {
        "User=" + one.removeprefix("--uid=") for one in arguments if one.startswith("--uid=")
    } <= set(service)
    assert {arguments[place + 1] for place, one in enumerate(arguments) if one == "-p"} <= set(
        service
    )
    program = " ".join(arguments[arguments.index("manage.py") - 1 :][:2])
    assert any(line.startswith(f"ExecStart={program} ") for line in service), program
    check_what_comes_after_manage(arguments)


def check_honcho(arguments: list[str]) -> None:
    procfile = (PROJECT / arguments[arguments.index("-f") + 1]).read_text(encoding="utf-8")
    started = {
        one for one in arguments[arguments.index("start") + 1 :] if one not in ("-p", "8000")
    }
    assert started <= set(re.findall(r"^([\w-]+): ", procfile, flags=re.MULTILINE)), started


def check_systemctl(arguments: list[str]) -> None:
    units = [one for one in arguments[1:] if not one.startswith("-")]
    for unit in units:
        file = unit if "." in unit else f"{unit}.service"
        assert file == "nginx.service" or (PROJECT / "deploy" / "systemd" / file).exists(), unit


CHECKS = {
    "cp": check_copy,
    "install": check_install,
    "systemd-run": check_systemd_run,
    "honcho": check_honcho,
    "docker": check_docker,
    "systemctl": check_systemctl,
    "manage.py": check_management,
    "make": check_make,
    "pip": check_pip,
    "python": check_module,
    "celery": check_celery,
    "accelerate": check_launcher,
    "torchrun": check_launcher,
    "gunicorn": check_gunicorn,
    "dialeval": check_dialeval,
    "apt-get": lambda arguments: None,
    "cd": lambda arguments: None,
    "useradd": lambda arguments: None,
    "runuser": lambda arguments: None,
    "for": lambda arguments: None,
    "done": lambda arguments: None,
    "export": lambda arguments: None,  # settings: test_documents_name_only_settings_that_exist
    "curl": lambda arguments: None,  # an example of the API: test_documents_challenges
}
