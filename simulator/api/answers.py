"""What the model says. The same prompt gets the same words; a question about colour gets an honest look at the picture."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random

from simulator import colours
from simulator.api.bodies import Generation
from simulator.media import MediaItem
from simulator.options import Options
from simulator.prompt import Prompt
from simulator.tokens import text

WORDS = (  # noqa: SIM905 - a sentence reads better than its list
    "the router sends a request to the pod that holds its prefix and an image is hashed with the words around it so that work done once "
    "serves again while load decides among equals and every token has a price in time"
).split(" ")
COLOUR_WORDS = ("colour", "color")


def compose(generation: Generation, prompt: Prompt, items: Sequence[MediaItem], options: Options) -> list[str]:
    """The answer as pieces, one a token, already as long as the sampling allows it to want; never empty."""
    pieces = text.split(_words(generation, prompt, items, options)) or ["."]
    for stop in generation.sampling.stop:
        said = "".join(pieces)
        if stop and stop in said:
            pieces = text.split(said[: said.index(stop)]) or [""]
    limit = generation.sampling.max_tokens
    wanted = generation.sampling.min_tokens
    if generation.sampling.ignore_eos and limit:
        wanted = limit + 1  # one more than is let through: the end is the limit's doing, reason `length`
    while len(pieces) < wanted:
        pieces = [*pieces, " ", *pieces]
    return pieces[:wanted] if generation.sampling.ignore_eos and limit else pieces


def _words(generation: Generation, prompt: Prompt, items: Sequence[MediaItem], options: Options) -> str:
    last = next((m for m in reversed(generation.messages) if m.role == "user"), None)
    question = last.text if last else ""
    if last and any(word in question.lower() for word in COLOUR_WORDS):
        pictures = [item for item in items if item.kind == "image"]
        if pictures:
            return _colours(pictures)
    if options.output.startswith("fixed:"):
        return options.output.removeprefix("fixed:")
    if options.output == "echo":
        return question or next((p for p in generation.prompts if isinstance(p, str)), "")
    if options.output == "describe":
        return _description(items, options)
    return _lorem(prompt, options)


def _colours(pictures: Sequence[MediaItem]) -> str:
    said: list[str] = []
    for picture in pictures:
        if picture.content is None:
            said.append("I cannot tell: the image was not loaded")
            continue
        try:
            said.append(f"The image is {colours.listing(colours.name_colours(picture.content))}")
        except ValueError:
            said.append("I cannot tell: the image cannot be read")
    return ". ".join(said) + "."


def _description(items: Sequence[MediaItem], options: Options) -> str:
    seen = ", ".join(f"{item.kind} of {item.tokens} tokens ({item.source})" for item in items) or "no media"
    return f"{options.pod_name or 'this server'} saw {seen}."


def _lorem(prompt: Prompt, options: Options) -> str:
    digest = sha256(f"{options.seed}".encode())
    digest.update(repr(prompt.tokens).encode())
    for item in prompt.items:
        digest.update(item.hash.encode())
    random = Random(digest.digest())  # noqa: S311 - text, not a secret
    low, high = options.output_tokens
    tokens = random.randint(low, high)
    words: list[str] = []
    count = 0
    while count < tokens:
        word = random.choice(WORDS)
        words.append(word)
        count += len(text.split(f" {word}"))
    pieces = text.split(" ".join(words))[:tokens]
    return "".join(pieces)
