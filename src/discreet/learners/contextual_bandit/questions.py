"""Questions of rounds with a context: one row of features, and a mask of arms."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.engine.declarations import Questions
from discreet.engine.request import Request
from discreet.errors import ConfigError
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.records.contexts import as_contexts, by_feature


@dataclass(frozen=True, kw_only=True)
class ContextQuestions(Questions):
    """A context per round, by position or by the labels of features, and a mask per person."""

    settings: ContextualBanditSettings

    takes_context: ClassVar[bool] = True

    @property
    def blank(self) -> Request:
        return Request(np.zeros((1, self.settings.features)))

    def request(self, context: object, available: Any, count: int, *, one: bool = False) -> Request:
        settings = self.settings
        if context is None:
            raise ConfigError(f"this learner needs a context: {settings.features} numbers")
        if settings.feature_labels is not None:
            context = by_feature(context, settings.feature_labels, one=one)
        contexts = as_contexts(context, settings.features, count, one=one)
        if available is None or one or np.shape(available) != (count, settings.slots):
            return Request(contexts, self.mask(available, count, one))
        return Request(contexts, available)  # one mask per person; a mask may leave no arm
