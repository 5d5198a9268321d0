"""Smooth a model of your own and certify one answer.

The model is any torch module (or function) that maps a batch to one output per row. Here it is a
small network with random weights, so the numbers mean nothing; put yours in its place, and give
sigma in the units of your input. Its answer becomes that of the smoothed model, and the
certificate says how far any change of the input of a given length can move it.
"""

import torch

import centersmooth as cs

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4))
x = torch.rand(16)  # one input, without a batch axis

smoother = cs.Smoother(model.eval(), noise=cs.Gaussian(sigma=0.25), metric=cs.metrics.L2())
cert = smoother.certify(x)

print(cert.value)  # the smoothed model's answer
print(cert.bound(0.25))  # no change of x of length 0.25 moves it further than this
print(cert.radius(0.5))  # changes up to this length move it by at most 0.5
print(cert.explain(0.25))
