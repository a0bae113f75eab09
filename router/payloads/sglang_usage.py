"""Token counts of SGLang's `/generate`: each answer, whole or streamed, carries the figures so far."""

import msgspec

from router.framework.parsing import Usage
from router.payloads.usage import Count, UsageFormat, first_count


class _MetaInfo(msgspec.Struct, frozen=True):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    cached_tokens: Count = None


class _Answer(msgspec.Struct, frozen=True):
    meta_info: _MetaInfo | None = None


_ANSWER = msgspec.json.Decoder(_Answer)
_ANSWERS = msgspec.json.Decoder(_Answer | list[_Answer])  # several prompts have an answer each


def _document(content: bytes) -> Usage | None:
    answers = _ANSWERS.decode(content)
    reports = [_usage(answer) for answer in (answers if isinstance(answers, list) else (answers,))]
    return _summed([report for report in reports if report is not None])


def _event(content: bytes) -> Usage | None:
    return _usage(_ANSWER.decode(content))


def _usage(answer: _Answer) -> Usage | None:
    report = answer.meta_info
    if report is None:
        return None
    prompt, completion = first_count(report.prompt_tokens), first_count(report.completion_tokens)
    if prompt is None and completion is None:
        return None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=(prompt or 0) + (completion or 0),
        cached_tokens=first_count(report.cached_tokens),
    )


def _summed(reports: list[Usage]) -> Usage | None:
    if len(reports) <= 1:
        return reports[0] if reports else None
    return Usage(
        prompt_tokens=sum(report.prompt_tokens or 0 for report in reports),
        completion_tokens=sum(report.completion_tokens or 0 for report in reports),
        total_tokens=sum(report.total_tokens or 0 for report in reports),
        cached_tokens=sum(report.cached_tokens or 0 for report in reports),
    )


SGLANG_USAGE = UsageFormat(b"meta_info", _document, _event)
