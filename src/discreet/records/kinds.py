"""Kinds of tables, told apart by their types alone, without importing the libraries of any."""


def is_table(value: object) -> bool:
    """Whether a value is a frame, a lazy frame, or a stream of Arrow batches with named columns."""
    if type(value).__name__ == "LazyFrame" or is_pandas(value):
        return True
    has_names = hasattr(value, "columns") or hasattr(value, "schema")
    return hasattr(type(value), "__arrow_c_stream__") and has_names


def is_pandas(value: object) -> bool:
    """Whether a value is a frame of pandas."""
    return type(value).__module__.startswith("pandas") and type(value).__name__ == "DataFrame"
