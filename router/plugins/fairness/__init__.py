"""Choose between the flows of one priority band."""
