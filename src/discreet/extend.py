"""All that a learner of your own needs, in one import; docs/develop/learner.md explains it.

Settings                              public settings, hashed and checked
Mode, Phase                           what is measured; the hooks of a block
Scheduled, Adaptive, Run              which blocks there are, and what each measures
OneRelease, RunningTotal, Report, …   statistics, with their aggregators
OneOf, Row                            answers by declaration
Learner, constructor_of, register        what users see
"""

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import OMITTED
from discreet.engine.phases import Adaptive, Run, Scheduled
from discreet.engine.problem import Problem as Mode
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import DoublingBlocks, EqualBlocks, ListedBlocks, Segments
from discreet.engine.settings import Settings
from discreet.engine.statistics import (
    Interactive,
    OneRelease,
    Released,
    Report,
    RunningTotal,
    Statistic,
)
from discreet.engine.view import View as Phase
from discreet.learners.answers import OneOf, Row
from discreet.learners.base import Learner, Modes
from discreet.learners.constructor import constructor, constructor_of
from discreet.learners.registry import register
from discreet.release.aggregators import OneChoice, PublicCells, Rows

__all__ = [
    "OMITTED",
    "Adaptive",
    "Batch",
    "Block",
    "DoublingBlocks",
    "EqualBlocks",
    "Floats",
    "Integers",
    "Interactive",
    "Learner",
    "ListedBlocks",
    "Mask",
    "Mode",
    "Modes",
    "OneChoice",
    "OneOf",
    "OneRelease",
    "Phase",
    "PublicCells",
    "Released",
    "Report",
    "Request",
    "Row",
    "Rows",
    "Run",
    "RunningTotal",
    "Scheduled",
    "Segments",
    "Settings",
    "Statistic",
    "constructor",
    "constructor_of",
    "register",
]
