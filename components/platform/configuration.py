"""Reads the stack's configuration from the engine; the one place that does."""

from collections.abc import Mapping

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env

from components.settings.complaints import PREFIX, SettingsError
from components.settings.stack import SECRET_KEYS, StackSettings


def read() -> dict[str, str]:
    """Every key of this project, as text, without its prefix: also those nobody knows, so that a typo is found."""
    # The language host passes configuration in the environment, in-process evaluations set it.
    config: Mapping[str, str] = {**get_config_env(), **CONFIG.get()}
    start = f"{pulumi.get_project()}:"
    return {key.removeprefix(start): value for key, value in config.items() if key.startswith(start)}


def secret(key: str) -> pulumi.Output[str] | None:
    """A secret of the stack, or None where it has none."""
    if key not in SECRET_KEYS:
        raise KeyError(f"{key} is no secret key")
    return pulumi.Config().get_secret(key)


def token(settings: StackSettings) -> pulumi.Output[str] | None:
    """The Hugging Face token; None where an existing Secret holds it. Raises SettingsError where there is neither."""
    if settings.hugging_face.existing_secret is not None:
        return None
    value = secret("huggingFaceToken")
    if value is None:
        command = "pulumi config set --secret huggingFaceToken"
        raise SettingsError([f"{PREFIX}:huggingFaceToken: missing; run `{command}`, or name a Secret with huggingFace.existingSecret"])
    return value
