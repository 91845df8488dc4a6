"""All that a learner of your own needs, in one import; docs/develop/learner.md explains it.

Settings                                       public settings, hashed and checked
Mode                                           what is declared once:
    Promise, Questions, Answer (OneOf, Row, Entry), DecisionForm
    Scheduled, Adaptive, Run                   which blocks there are, and what each measures
    OneRelease, RunningTotal, DisjointPaths, Interactive, Report (Units), Statistic
    OneChoice, PublicCells, Rows, HeldRows     aggregators, which know what one person can move
    EqualBlocks, DoublingBlocks, ListedBlocks, Segments
    Selection, SampledPath, GainPath           mechanisms of interactive draws
Phase                                          one kind of block:
    Request, Batch, Block, Released, Readings, Masks, Events, Stored
Learner, Modes, register                       what users see
"""

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import OMITTED
from discreet.engine.declarations import (
    Answer,
    DecisionForm,
    Events,
    Masks,
    Promise,
    Questions,
    Readings,
    Stored,
)
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.phases import Adaptive, Run, Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import DoublingBlocks, EqualBlocks, ListedBlocks, Segments
from discreet.engine.settings import Settings
from discreet.engine.statistics import (
    Draws,
    Interactive,
    Measures,
    OneRelease,
    Released,
    Report,
    RunningTotal,
    Statistic,
    Units,
)
from discreet.learners.answers import Entry, OneOf, Row
from discreet.learners.base import Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.disjoint_paths import DisjointPaths
from discreet.learners.registry import register
from discreet.release.aggregators import HeldRows, OneChoice, PublicCells, Rows
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.sampled_path import SampledPath
from discreet.release.selection import Selection

__all__ = [
    "OMITTED",
    "Adaptive",
    "Answer",
    "Batch",
    "Block",
    "DecisionForm",
    "DisjointPaths",
    "DoublingBlocks",
    "Draws",
    "Entry",
    "EqualBlocks",
    "Events",
    "Floats",
    "GainPath",
    "HeldRows",
    "Integers",
    "Interactive",
    "Learner",
    "ListedBlocks",
    "Mask",
    "Masks",
    "Measures",
    "Mode",
    "Modes",
    "OneChoice",
    "OneOf",
    "OneRelease",
    "Phase",
    "Promise",
    "PublicCells",
    "Questions",
    "Readings",
    "Released",
    "Report",
    "Request",
    "Row",
    "Rows",
    "Run",
    "RunningTotal",
    "SampledPath",
    "Scheduled",
    "Scores",
    "Segments",
    "Selection",
    "Settings",
    "Statistic",
    "Stored",
    "Units",
    "constructor",
    "register",
]
