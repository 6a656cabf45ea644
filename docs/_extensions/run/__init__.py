"""Read pages, execute their code in kernels, cache its outputs, and guard the build."""
