"""What the claims rest on: the paper's experiments, accuracy, scaling, benchmarks, rivals and the demo."""
