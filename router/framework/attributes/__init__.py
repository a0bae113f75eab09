"""Values that producers publish and other plugins read, one file a value, each with its data key."""
