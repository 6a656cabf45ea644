"""Running the code of pages: kernels, order, what a page lacks, what ends a build."""
