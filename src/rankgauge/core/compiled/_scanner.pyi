from typing_extensions import Buffer

_Column = tuple[Buffer, Buffer, Buffer]  # text, starts, lengths

class Scanner:
    def __new__(
        cls, queries: _Column, docs: _Column, offsets: Buffer, in_doubles: bool, max_id: int, seed: int, /
    ) -> Scanner: ...
    def scan(
        self, buffer: Buffer, is_last: bool, is_scattered: bool, /
    ) -> tuple[int, int, int, bytes, int, int] | None: ...
    def hits(self) -> bytes: ...
