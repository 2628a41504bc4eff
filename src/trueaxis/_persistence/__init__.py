"""Saving and loading fitted models, and exporting them to ONNX."""
