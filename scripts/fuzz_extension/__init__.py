"""Call every entry point of the compiled extension with odd, damaged and wrong inputs.

    python -m scripts.fuzz_extension --cases 1000 --seed 7
    python -m scripts.fuzz_extension --seconds 900 --sanitize      # compiled again, with ASan and UBSan
    python -m scripts.fuzz_extension --only mapping --seed 7 --first 412 --cases 1      # one case again

Results are compared with plain Python in this package, which shares no code with rankgauge. A wrong argument must raise
an exception, and so must memory that runs out; the call after it must succeed.
"""
