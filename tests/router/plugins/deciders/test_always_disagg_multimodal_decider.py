import pytest

from router.framework.attributes.tokenized_prompt import MultimodalFeature, Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.plugin import NoParameters
from router.plugins.deciders.always_disagg_multimodal_decider import TYPE, AlwaysDisaggMultimodalDecider
from tests.support.engine import inference_request, make_handle

PICTURE = MultimodalFeature(modality="image", hash="a", offset=0, length=1)
TEXT = Prompt(packed=b"\0\0\0\0")
MEDIA = Prompt(packed=b"\0\0\0\0", features=(PICTURE,))


@pytest.mark.parametrize(
    ("prompts", "answer"),
    [
        pytest.param((TEXT,), False, id="text"),
        pytest.param((TEXT, MEDIA), True, id="media-in-a-later-prompt"),
        pytest.param(None, False, id="not-tokenised"),
    ],
)
def test_yes_for_media(prompts: tuple[Prompt, ...] | None, answer: bool) -> None:
    request = inference_request()
    if prompts is not None:
        request.write(tokenized_prompt(), TokenizedPrompt(prompts=prompts))

    assert AlwaysDisaggMultimodalDecider(TYPE, NoParameters(), make_handle()).decide(request, None) is answer
