"""Small expressions in configuration documents, in the part of the Common Expression Language that sums and compares numbers."""
