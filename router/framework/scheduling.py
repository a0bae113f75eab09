"""Choosing: filters, scorers, a picker, joined in profiles by a profile handler. All synchronous.

For every request the scheduler asks the handler which profiles to run until it says none, runs each profile on the full list of
candidates (filters in order, scorers weighted and summed, one picker), and asks the handler for the result.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from router.framework.endpoint import Endpoint
from router.framework.plugin import Plugin
from router.framework.request import InferenceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileResult:
    """What a profile chose: `targets` best first (never empty), and the weighted sum of every scored endpoint."""

    targets: tuple[Endpoint, ...]
    scores: Mapping[Endpoint, float] = field(default_factory=dict[Endpoint, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingResult:
    """Outcome of all profiles. `profiles` holds only those that ran and succeeded; `primary` is one of them."""

    profiles: Mapping[str, ProfileResult]
    primary: str

    @property
    def target(self) -> Endpoint:
        """Where the request goes."""
        return self.profiles[self.primary].targets[0]


class Filter(Plugin, ABC):
    """Removes endpoints that must not be chosen."""

    @abstractmethod
    def filter(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Sequence[Endpoint]:
        """A subset of `endpoints` in the same order; empty ends the profile with an error."""


class Scorer(Plugin, ABC):
    """Prefers some endpoints to others."""

    @abstractmethod
    def score(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> Mapping[Endpoint, float]:
        """A number in [0, 1] for each endpoint; one left out counts 0, one outside is clamped."""


class Picker(Plugin, ABC):
    """Ends a profile."""

    @abstractmethod
    def pick(self, request: InferenceRequest, scores: Mapping[Endpoint, float]) -> tuple[Endpoint, ...]:
        """Chosen endpoints, best first; `scores` is never empty and in candidate order."""


class ProfileHandler(Plugin, ABC):
    """Decides which profiles run and what their results mean."""

    @abstractmethod
    def pick_profiles(
        self, request: InferenceRequest, profiles: Sequence[str], results: Mapping[str, ProfileResult | None]
    ) -> Sequence[str]:
        """Names to run next; empty: done. `results` holds None for a profile that failed."""

    @abstractmethod
    def process_results(self, request: InferenceRequest, results: Mapping[str, ProfileResult | None]) -> SchedulingResult:
        """The result. Raises RequestError when nothing usable ran."""


class Decider(Plugin, ABC):
    """Answers whether an optional stage is worth it; referenced by name from a profile handler."""

    @abstractmethod
    def decide(self, request: InferenceRequest, endpoint: Endpoint | None) -> bool:
        """True: run the stage. `endpoint` is the target of the stage before, if there is one."""
