from router.framework.attributes.key import DataKey


def test_is_its_text() -> None:
    key = DataKey("Load", "producer", int)

    assert key == "Load/producer"
    assert key.text == "Load/producer"
    assert (key.data_type, key.producer, key.value_type) == ("Load", "producer", int)


def test_keys_of_equal_text_address_one_value() -> None:
    values = {DataKey("Load", "producer", int): 1}

    assert values[DataKey("Load", "producer", int)] == 1
    assert DataKey("Load", "other", int) not in values
