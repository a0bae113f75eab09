"""Infrastructure as typed parts: settings, plan, resources."""
