"""The model as data: landscapes, hyper-parameters, algorithms, and the law of one step."""
