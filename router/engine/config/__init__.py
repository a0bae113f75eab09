"""From a configuration document to wired plugins: schema, load, defaults, validate, data_graph, assemble."""
