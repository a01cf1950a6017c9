import json
import os
import threading

from apcore import Event, EventEmitter
from apcore.events.subscribers import FileSubscriber, StdoutSubscriber


def test_every_event_is_one_line_of_json(tmp_path):
    path = tmp_path / "events.jsonl"
    emitter = EventEmitter()
    emitter.subscribe(FileSubscriber(path))
    events = [Event("a.b", {"text": "two\nlines", "sign": "§"}), Event("a.c")]
    for event in events:
        emitter.emit(event)
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [event.to_dict() for event in events]


def test_the_file_is_for_its_owner_only(tmp_path):
    path = tmp_path / "events.jsonl"
    FileSubscriber(path).on_event(Event("a.b"))
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path):
    path = tmp_path / "events.jsonl"
    subscriber = FileSubscriber(path)
    subscriber.on_event(Event("a.b"))
    path.rename(tmp_path / "old.jsonl")
    subscriber.on_event(Event("a.c"))
    assert json.loads(path.read_text())["type"] == "a.c"


def test_lines_of_many_threads_do_not_mix(tmp_path):
    path = tmp_path / "events.jsonl"
    subscriber = FileSubscriber(path)

    def write(number):
        for _ in range(50):
            subscriber.on_event(Event("a.b", {"text": str(number) * 5000}))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [json.loads(line)["data"]["text"] for line in path.read_text().splitlines()]
    assert len(texts) == 200
    assert all(len(set(text)) == 1 for text in texts)


def test_a_file_that_cannot_be_written_disturbs_nobody(tmp_path, caplog):
    emitter = EventEmitter()
    emitter.subscribe(FileSubscriber(tmp_path / "nowhere" / "events.jsonl"))
    emitter.emit(Event("a.b"))
    assert "FileNotFoundError" in caplog.text


def test_a_text_that_is_no_unicode_is_written_all_the_same(tmp_path):
    path = tmp_path / "events.jsonl"
    FileSubscriber(path).on_event(Event("a.b", {"name": os.fsdecode(b"\xff")}))
    assert json.loads(path.read_text())["data"]["name"] == "?"


def test_standard_output_gets_the_same_lines(capsys):
    event = Event("a.b", {"n": 1})
    StdoutSubscriber().on_event(event)
    assert json.loads(capsys.readouterr().out) == event.to_dict()
