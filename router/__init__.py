"""The router: the scheduling engine, `python -m router.engine`, and everything it is made of.

The path of a request through the engine:

1. Envoy opens one ext_proc stream a request; `engine.extproc.transport` carries its messages, `engine.extproc.exchange` collects
   headers and body as plain values and answers in the order the protocol asks for.
2. A parser (`plugins.parsers`, chosen by the path) turns the body into a `Payload`, without touching the bytes.
3. `engine.control.director` shows the request's life: objectives, admission, candidates, producers, scheduling, booking.
4. `engine.scheduling` runs the profiles of the configuration: filters, scorers, picker.
5. The exchange answers Envoy with the destination header and the body's own bytes; Envoy connects to the chosen endpoint.
6. Response messages pass through; usage and timings are read on the way, and the end of the stream settles the books.

Beside it, `engine.discovery` knows who the endpoints are and `engine.datalayer` what they look like. `framework` is the contract
between all of this and the plugins.
"""
