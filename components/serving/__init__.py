"""What answers requests: model servers, router, their monitoring."""
