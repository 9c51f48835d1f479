"""An OpenID Connect provider as a process of its own, for tests: discovery, code flow with PKCE,
signed ID tokens, userinfo. ``POST /person`` says who logs in next, and what is wrong with the
token.

    python -m tests.dialeval_site.openid_provider PORT CLIENT_ID CLIENT_SECRET
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask, jsonify, redirect, request
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.exceptions import BadRequest, Unauthorized

from tests.services import free_port
from tests.site import PROJECT, wait_until

CLIENT_ID, CLIENT_SECRET = "dialeval", "a provider's secret"


def provider(issuer: str, client_id: str, client_secret: str) -> Flask:
    app = Flask(__name__)
    key, stranger = (RSAKey.generate_key(2048, {"kid": "one"}) for _ in range(2))
    person: dict[str, Any] = {}
    codes: dict[str, dict[str, Any]] = {}
    tokens: dict[str, dict[str, Any]] = {}

    @app.get("/.well-known/openid-configuration")
    def discovery() -> Any:
        return jsonify(
            issuer=issuer,
            authorization_endpoint=f"{issuer}/authorize",
            token_endpoint=f"{issuer}/token",
            userinfo_endpoint=f"{issuer}/userinfo",
            jwks_uri=f"{issuer}/keys",
            response_types_supported=["code"],
            subject_types_supported=["public"],
            id_token_signing_alg_values_supported=["RS256"],
            code_challenge_methods_supported=["S256"],
        )

    @app.get("/keys")
    def keys() -> Any:
        return jsonify(keys=[key.as_dict(private=False)])

    @app.post("/person")
    def next_person() -> Any:
        person.clear()
        person.update(request.get_json())
        return "", 204

    @app.get("/authorize")
    def authorize() -> Any:
        asked = request.args
        if asked["client_id"] != client_id or asked["response_type"] != "code":
            raise BadRequest
        if asked["code_challenge_method"] != "S256" or "openid" not in asked["scope"].split():
            raise BadRequest
        if person.get("denies"):
            return redirect(f"{asked['redirect_uri']}?error=access_denied&state={asked['state']}")
        code = secrets.token_urlsafe()
        codes[code] = {"person": dict(person), **asked.to_dict()}
        return redirect(f"{asked['redirect_uri']}?code={code}&state={asked['state']}")

    @app.post("/token")
    def token() -> Any:
        sent, who = request.form, request.authorization
        if who is None or (who.username, who.password) != (client_id, client_secret):
            raise Unauthorized
        asked = codes.pop(sent["code"], None)  # good once
        if asked is None or asked["redirect_uri"] != sent["redirect_uri"]:
            return jsonify(error="invalid_grant"), 400
        if create_s256_code_challenge(sent["code_verifier"]) != asked["code_challenge"]:
            return jsonify(error="invalid_grant"), 400
        one, now, access = asked["person"], int(time.time()), secrets.token_urlsafe()
        tokens[access] = one["claims"]
        claims = {
            "iss": issuer,
            "aud": client_id,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **(one["claims"] if not one.get("only_userinfo") else {"sub": one["claims"]["sub"]}),
            **one.get("wrong", {}),
        }
        signer = stranger if one.get("wrong_key") else key
        id_token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, signer)
        return jsonify(access_token=access, token_type="Bearer", expires_in=60, id_token=id_token)

    @app.get("/userinfo")
    def userinfo() -> Any:
        return jsonify(tokens[request.headers["Authorization"].removeprefix("Bearer ")])

    return app


@contextmanager
def running_provider() -> Iterator[str]:
    """The address of a provider in a process of its own."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = (sys.executable, "-m", "tests.dialeval_site.openid_provider", str(port))
    process = subprocess.Popen(
        [*command, CLIENT_ID, CLIENT_SECRET], cwd=PROJECT, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: _answers(address), 60, "the provider answers")
        yield address
    finally:
        process.kill()
        process.wait()


def _answers(address: str) -> bool:
    try:
        return requests.get(f"{address}/keys", timeout=5).ok
    except requests.ConnectionError:
        return False


if __name__ == "__main__":
    port = int(sys.argv[1])
    provider(f"http://127.0.0.1:{port}", *sys.argv[2:4]).run(port=port)
