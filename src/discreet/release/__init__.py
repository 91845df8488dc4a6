"""The only door: everything that turns personal data into something public.

Read in this order: `aggregator/` (what people bring becomes bounded integers that know how far one
person can move them), `noise`, `selection` and the sums (`sums`, `tree`, `toeplitz`, `fresh`), and
`door`, which takes only what was aggregated and its fee first.
"""
