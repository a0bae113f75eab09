"""Who carries the messages of a stream. Nothing above this package sees gRPC or protobuf."""
