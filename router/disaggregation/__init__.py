"""Serving one request by several endpoints: which roles endpoints play, which stages run, and how the first is told of the others."""
