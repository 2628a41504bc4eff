"""Fitted models as files, and as ONNX graphs."""
