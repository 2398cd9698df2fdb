"""One random data set through every way in: the results must agree to the last bit, or fail with the same words.

python -m tests.io.differential --sets 5000    # from the root of the repository; --first SEED, --only WAY
"""
