from router.framework.attributes.served_models import ServedModels, served_models


def test_the_key_names_its_producer() -> None:
    assert served_models().text == "ServedModels/models-data-extractor"
    assert served_models().value_type is ServedModels
