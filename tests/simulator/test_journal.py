from simulator.journal import LIMIT, Journal, cut


def entry(journal: Journal, path: str = "/p") -> None:
    journal.open(at=1.0, path=path, headers={}, body={})


def test_entries_are_numbered_and_selected() -> None:
    journal = Journal()
    for path in ("/a", "/b", "/a"):
        entry(journal, path)

    assert [e["n"] for e in journal.since(1)] == [1, 2]
    assert [e["n"] for e in journal.since(path="/a")] == [0, 2]


def test_numbers_go_on_after_clearing() -> None:
    journal = Journal()
    entry(journal)
    journal.clear()
    entry(journal)

    assert [e["n"] for e in journal.since()] == [1]


def test_it_holds_a_bounded_number() -> None:
    journal = Journal()
    for _ in range(LIMIT + 5):
        entry(journal)

    assert len(journal.since()) == LIMIT


def test_long_media_strings_are_cut_and_texts_are_not() -> None:
    long = "data:image/png;base64," + "A" * 1000

    assert len(cut({"a": [long]})["a"][0]) < 100
    assert cut("A" * 1000) == "A" * 1000
