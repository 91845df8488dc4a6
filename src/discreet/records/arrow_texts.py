"""Texts of Arrow tables, each of which is checked alone.

Few libraries check that the texts of an Arrow table are UTF-8, and Polars trusts that they are: a
malformed one would end the process, or show up in an error. So texts enter Polars as bytes, which
have the same layout in memory, and become texts there. A malformed text becomes an empty cell.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import nanoarrow
import polars

from discreet.records.series import as_texts


@dataclass(frozen=True)
class _Batch:
    """A batch of rows under another schema that has the same layout in memory."""

    batch: Any
    schema: Any

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.schema.__arrow_c_schema__(), self.batch.__arrow_c_array__()[1]


@dataclass(frozen=True)
class ArrowFrames:
    """Makes frames of batches with one nanoarrow schema."""

    schema: Any

    @cached_property
    def _texts(self) -> dict[str, Any]:
        """The types of the columns with texts, with bytes in place of the texts."""
        in_bytes = {field.name: _in_bytes(field) for field in self.schema.fields}
        return {name: kind for name, kind in in_bytes.items() if kind is not None}

    @cached_property
    def _in_bytes(self) -> Any:
        fields = [self._texts.get(field.name, field) for field in self.schema.fields]
        names = [field.name for field in self.schema.fields]
        return nanoarrow.struct(
            [nanoarrow.Schema(kind, name=name) for kind, name in zip(fields, names, strict=True)]
        )

    def frame(self, batch: Any) -> polars.DataFrame:
        """Return a batch as a frame; a cell with a malformed text is empty."""
        if not self._texts:
            return polars.DataFrame(batch)
        frame = polars.DataFrame(_Batch(batch, self._in_bytes))
        return frame.with_columns(as_texts(frame[name]) for name in self._texts)


def _in_bytes(field: Any) -> Any:
    """Return a nanoarrow type with bytes in place of texts; None if it has no texts."""
    kind, kinds = field.type, nanoarrow.Type
    if kind == kinds.STRING:
        return nanoarrow.binary()
    if kind == kinds.LARGE_STRING:
        return nanoarrow.large_binary()
    if kind == kinds.STRING_VIEW:
        return nanoarrow.Schema(kinds.BINARY_VIEW)
    if kind == kinds.EXTENSION:
        return _in_bytes(field.extension.storage)
    if kind not in (kinds.LIST, kinds.LARGE_LIST, kinds.FIXED_SIZE_LIST, kinds.DICTIONARY):
        return None
    inner = _in_bytes(field.value_type)
    if inner is None:
        return None
    if kind == kinds.DICTIONARY:
        return nanoarrow.dictionary(field.index_type, inner)
    if kind == kinds.FIXED_SIZE_LIST:
        return nanoarrow.fixed_size_list(inner, field.list_size)
    return nanoarrow.list_(inner) if kind == kinds.LIST else nanoarrow.large_list(inner)
