"""User data as a boot has to carry it out."""

import base64
import gzip
import json
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest
from tests.cloud.user_data import parse


def cloud_config(**keys: object) -> bytes:
    return f"#cloud-config\n{json.dumps(keys)}".encode()


def test_commands_are_quoted_as_cloud_init_quotes_them() -> None:
    plan = parse(cloud_config(runcmd=["echo $HOME", ["echo", "$HOME", 1]], bootcmd=["true"]), None)
    assert plan["runcmd"] == ["echo $HOME", "echo '$HOME' 1"]
    assert plan["bootcmd"] == ["true"]


def test_no_user_data_means_the_default_user_with_the_key_pair() -> None:
    (user,) = parse(b"", "ssh-ed25519 AAAA")["users"]
    assert (user["name"], user["keys"]) == ("ec2-user", ["ssh-ed25519 AAAA"])


def test_users_replace_the_default_one() -> None:
    plan = parse(cloud_config(users=[{"name": "bench", "ssh_authorized_keys": ["k"], "sudo": "ALL=(ALL) ALL"}]), "pair")
    (user,) = plan["users"]
    assert (user["name"], user["keys"], user["sudo"]) == ("bench", ["k"], ["ALL=(ALL) ALL"])


def test_a_file_has_its_content_decoded_and_its_mode() -> None:
    packed = base64.b64encode(gzip.compress(b"hello")).decode()
    given = [{"path": "/a", "content": packed, "encoding": "gz+b64", "permissions": "0755", "owner": "root:bin"}]
    (file,) = parse(cloud_config(write_files=given), None)["write_files"]
    assert base64.b64decode(file["content"]) == b"hello"
    assert (file["mode"], file["owner"], file["append"], file["defer"]) == (0o755, "root:bin", False, False)


@pytest.mark.parametrize("written", ["0640", "'0640'", "'640'"])
def test_a_mode_is_octal_with_quotes_and_without(written: str) -> None:
    given = f"#cloud-config\nwrite_files: [{{path: /a, permissions: {written}}}]\n"
    (file,) = parse(given.encode(), None)["write_files"]
    assert file["mode"] == 0o640


def test_host_keys_come_in_pairs() -> None:
    plan = parse(cloud_config(ssh_keys={"ed25519_private": "P", "ed25519_public": "p"}), None)
    assert plan["host_keys"] == {"ed25519": ("P", "p")}


def test_a_script_is_kept_as_it_is() -> None:
    plan = parse(b"#!/bin/sh\necho hi\n", None)
    assert [base64.b64decode(one) for one in plan["scripts"]] == [b"#!/bin/sh\necho hi\n"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_parts_are_taken_together(pack: type[bytes]) -> None:
    message = MIMEMultipart()
    for text in ("#cloud-config\nruncmd: [one]\n", "#!/bin/sh\ntwo\n"):
        message.attach(MIMEText(text))
    plan = parse(pack(message.as_bytes()), None)
    assert plan["runcmd"] == ["one"]
    assert len(plan["scripts"]) == 1


def test_what_is_not_supported_is_named() -> None:
    assert parse(cloud_config(apt={}, runcmd=[]), None)["unsupported"] == ["apt"]
    assert parse(b"#include http://example.com\n", None)["unsupported"] == ["#include http://example.com"]
