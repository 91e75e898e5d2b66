"""Flipped bits and cuts in every file: the truth is served, or a sentence names the file."""

import random
import shutil

import pytest

from bayesift.errors import DataError
from bayesift.filtering import ProfileState
from bayesift.filtering.saving import filter_content
from bayesift.screening import Project
from bayesift.screening.review import PoolTexts
from bayesift.service.db.database import FILE, open_store
from bayesift.service.filters.snapshots import SnapshotFolder
from bayesift.service.live import LiveState
from bayesift.service.reviews.live import replayed
from tests.screening.test_project import (
    RECORDS,
    damaged,
    decide_twice,
    served_or_refused,
    what_is_served,
)
from tests.service.test_reviews import begin, ris, screen
from tests.service.worlds import Clients, documents, running


def live_service(folder, *, killed):
    """Fill a service so that every table and some snapshots hold something.

    If it is killed, most is in the WAL only.
    """
    with running(folder / "running", snapshot_every=60) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        for start in range(0, 60, 20):
            clients.ada.post(
                "/api/documents/batch", json={"documents": documents(start, start + 20)}
            )
        for number in range(12):
            body = {"document": f"d{number}", "relevant": number % 3 == 0}
            clients.ada.post("/api/filters/grain/judgements", json=body)
        clients.ada.post("/api/filters/grain/words", json={"word": "silo", "strength": 1})
        review = begin(clients.ada, ("a.ris", ris(0, 9)))["id"]
        screen(clients.ada, review, 4)
        clients.person("last", "reader")
        service.writer._saving.join()
        shutil.copytree(folder / "running", folder / "killed")
    return folder / ("killed" if killed else "running")


def what_the_service_has(folder):
    with open_store(folder) as store:
        live = LiveState(store, SnapshotFolder(folder, store.name))
        with store.reading() as read:
            rows = (
                list(read.events()),
                read.documents(f"d{number}" for number in range(60)),
                read.filters(),
                read.judgements("grain"),
                read.words("grain"),
                read.users(),
                read.sessions(),
                [replayed(read, row).events for row in read.reviews()],
                [list(replayed(read, row).references) for row in read.reviews()],
            )
        engine = live.engine
        states = [ProfileState.of(profile) for profile in engine.profiles.values()]
        content = filter_content(engine.space, [*states, *engine.starts.values()], n_events=1)
        arrays = {name: array.tobytes() for name, array in content.arrays.items()}
        return rows, content.header, arrays, content.lists


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def damage_the_service(tmp_path, times, seed, *, killed):
    """Damage each file in turn; return how often each was refused, and how often damaged."""
    whole = live_service(tmp_path, killed=killed)
    expected = what_the_service_has(shutil.copytree(whole, tmp_path / "expected"))
    names = [path.relative_to(whole) for path in files_of(whole)]
    assert {path.name for path in names} >= {FILE, "events.mark", "model.json"}
    rng = random.Random(seed)
    refused = dict.fromkeys(names, 0)
    for turn in range(times):
        name = names[turn % len(names)]
        folder = shutil.copytree(whole, tmp_path / "damaged")
        (folder / name).write_bytes(damaged((whole / name).read_bytes(), rng))
        served = served_or_refused(folder, what_the_service_has)
        if isinstance(served, DataError):
            refused[name] += 1
            assert name.name.removesuffix("-wal") in str(served), served
            assert "\n" not in str(served)
        else:
            assert served == expected, name
        shutil.rmtree(folder)
    return {str(name): (n, times // len(names)) for name, n in refused.items()}


@pytest.mark.parametrize("killed", [False, True])
def test_no_damage_to_a_service_is_served_in_silence(tmp_path, killed):
    refused = damage_the_service(tmp_path, times=60, seed=31, killed=killed)
    assert refused[f"{FILE}-wal" if killed else FILE][0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_damage_of_a_thousand_to_a_service_is_served_in_silence(tmp_path, seed):
    print(damage_the_service(tmp_path, times=250, seed=seed, killed=seed % 2 == 0))


@pytest.mark.slow
def test_no_damage_of_a_thousand_to_a_project_is_served_in_silence(tmp_path):
    folder = tmp_path / "review"
    Project.create(folder, RECORDS).close()
    decide_twice(folder)
    with Project(folder, writing=True) as project:
        project.append("settings", by="ann", query="wheat")
        project.append("words", by="ann", words={"rain": 1.0})
        texts = PoolTexts.of_log(project)
        texts.vectors().save(project.snapshot_folder, texts.digest)
    expected = what_is_served(folder)
    rng = random.Random(31)
    files = files_of(folder)
    for turn in range(1000):
        path = files[turn % len(files)]
        whole = path.read_bytes()
        path.write_bytes(damaged(whole, rng))
        served = served_or_refused(folder)
        if isinstance(served, DataError):
            assert path.name in str(served)
            assert "\n" not in str(served)
        else:
            assert served == expected
        path.write_bytes(whole)
