"""What a stack may say, checked before any resource exists. Plain data, nothing of Pulumi."""
