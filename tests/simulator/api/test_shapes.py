from simulator.api import shapes

IDENTITY = shapes.Identity("chatcmpl-1", 5, "m")
COUNTS = shapes.Counts(prompt=10, completion=3, cached=8, multimodal=2, details=True)


def test_a_chat_answer_has_every_field_of_vllm() -> None:
    answer = shapes.chat_answer(IDENTITY, [("hi", "stop")], COUNTS)

    unused = {"kv_transfer_params", "ec_transfer_params", "prompt_logprobs", "prompt_token_ids", "prompt_text", "metrics", "service_tier"}
    assert all(answer[name] is None for name in unused)
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"]["content"] == "hi"
    assert {"stop_reason", "token_ids", "routed_experts"} <= set(answer["choices"][0])


def test_usage_with_and_without_details() -> None:
    details = {"cached_tokens": 8, "created_cache_tokens": 2, "multimodal_tokens": 2}
    assert COUNTS.usage()["prompt_tokens_details"] == details
    assert shapes.Counts(1, 1, 0, 0, False).usage()["prompt_tokens_details"] is None


def test_a_streams_usage_has_exactly_three_numbers() -> None:
    assert COUNTS.stream_usage() == {"prompt_tokens": 10, "total_tokens": 13, "completion_tokens": 3}


def test_a_text_answer() -> None:
    answer = shapes.completion_answer(IDENTITY, [("a", "stop"), ("b", "length")], COUNTS)

    assert answer["object"] == "text_completion"
    assert [(c["index"], c["text"], c["finish_reason"]) for c in answer["choices"]] == [(0, "a", "stop"), (1, "b", "length")]


def test_a_chunk_repeats_the_identity() -> None:
    assert shapes.chunk(IDENTITY, "k", [], usage=1) == {
        "id": "chatcmpl-1",
        "object": "k",
        "created": 5,
        "model": "m",
        "choices": [],
        "usage": 1,
    }


def test_models_lists_every_name() -> None:
    listed = shapes.models(("a", "b"), "root", 5, 100)["data"]

    assert [(m["id"], m["root"], m["max_model_len"]) for m in listed] == [("a", "root", 100), ("b", "root", 100)]
