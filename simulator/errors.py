"""Errors a client or an operator sees, in vLLM's words and shapes."""


class OptionsError(Exception):
    """A flag that cannot be used; the text names flag, value and what is allowed."""


class ApiError(Exception):
    """A request that is answered with `status` and vLLM's error object."""

    def __init__(self, status: int, message: str, *, kind: str = "", param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.param = status, message, param
        self.kind = kind or KINDS.get(status, "BadRequestError")

    def body(self, form: str = "openai") -> dict[str, object]:
        """`{"error": {...}}` as vLLM sends it, or the `flat` form of its older versions."""
        told: dict[str, object] = {"message": self.message, "type": self.kind, "param": self.param, "code": self.status}
        return {"object": "error", **told} if form == "flat" else {"error": told}


KINDS = {
    400: "BadRequestError",
    401: "AuthenticationError",
    404: "NotFoundError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
    500: "InternalServerError",
    501: "NotImplementedError",
    503: "ServiceUnavailableError",
}
