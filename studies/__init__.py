"""The paper's experiments on real data: data -> models -> experiments -> records -> figures."""
