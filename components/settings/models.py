"""The catalogue of models, and the form of a model that is not in it."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from components.settings.section import Section

QWEN3_VL_32B: Final = "Qwen/Qwen3-VL-32B-Instruct"
GEMMA_4_31B: Final = "google/gemma-4-31B-it"
KIMI_VL_A3B: Final = "moonshotai/Kimi-VL-A3B-Instruct"


class ModelSettings(Section):
    """What is served: a name of the catalogue, or a name with the numbers the router needs to know."""

    name: str = Field(min_length=1, pattern=r"^[^\s]+$")
    factor: int | None = Field(default=None, ge=1, description="pixels that one image token covers")
    peak_prefill_throughput: int | None = Field(default=None, ge=1, description="tokens a second of one endpoint")


def _from_name(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


Model = Annotated[ModelSettings, BeforeValidator(_from_name)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """What is known about a model on the reference hardware."""

    image_factor: int  # pixels an image token covers
    peak_prefill_throughput: int  # tokens a second of one endpoint, measured on H200 with tensor parallel size 2
    affinity_threshold: float  # share of a prompt that must be cached before affinity engages
    max_ttft_penalty_ms: int  # how much waiting a cached prefix may cost


CATALOGUE: Final = {
    # 32 x 32 pixels a token; the throughput and the doubled penalty are the guide's calibration for this model.
    QWEN3_VL_32B: CatalogueEntry(image_factor=1024, peak_prefill_throughput=15751, affinity_threshold=0.6, max_ttft_penalty_ms=36000)
}
LATER: Final = (GEMMA_4_31B, KIMI_VL_A3B)
