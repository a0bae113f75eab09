"""From settings to plain data: names, args, specs, documents. Pure functions, nothing of Pulumi is loaded."""
