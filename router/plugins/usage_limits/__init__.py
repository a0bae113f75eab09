"""Set the saturation at which a priority band stops."""
