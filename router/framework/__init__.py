"""The contract between the engine and its plugins. Knows neither."""
