"""Nobody without the token, no web page, no other name of this machine (issue: bearer, Host, Origin)."""

from __future__ import annotations

import pytest

from tests.engine.api.conftest import TOKEN, EngineProject

PLACES = ["/api/v1/loops", "/api/v1/loops/x", "/api/v1/events", "/api/v1/engine", "/nothing"]


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"bearer  x{TOKEN}"])
async def test_without_the_token_there_is_no_answer(project: EngineProject, path: str, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    project.http.headers.pop("Authorization")
    answer = await project.http.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthorized"
    assert TOKEN not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.0.1", "localhost.evil"])
async def test_another_host_name_is_refused_even_with_the_token(project: EngineProject, host: str) -> None:
    answer = await project.http.get("/health", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost:3000", "http://127.0.0.1"],
)
async def test_a_web_page_is_refused_even_with_the_token(project: EngineProject, origin: str) -> None:
    answer = await project.http.get("/api/v1/loops", headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_this_machine_is_welcome_by_all_its_names(project: EngineProject) -> None:
    for host in ("127.0.0.1", "localhost", f"localhost:{project.handover.port}", "[::1]:80"):
        assert (await project.http.get("/api/v1/loops", headers={"Host": host})).status_code == 200
        from_itself = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert (await project.http.get("/api/v1/loops", headers=from_itself)).status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize("more", [{"Origin": "http://localhost:3000"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_another_page_of_this_machine_is_refused_whatever_it_asks(
    project: EngineProject, method: str, more: dict[str, str]
) -> None:
    headers = {"Host": "localhost:80", **more}
    for path in ("/api/v1/loops", "/api/v1/page/sign-in", "/health"):
        answer = await project.http.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_health_needs_no_token_and_proves_who_answers(project: EngineProject) -> None:
    project.http.headers.pop("Authorization")
    answer = (await project.http.get("/health")).json()
    assert answer["status"] == "ok"
    assert answer["engine"] == project.handover.fingerprint
    assert answer["managers"]["loops"]["ready"] is True
    assert TOKEN not in str(answer)
