"""Every TOML that a test of runs hands to a command is one that the schema accepts, too."""

from pathlib import Path

import pytest

from discreet.runs.select import Selection, configured_selection
from discreet.runs.settings import Configured, configured
from runs.toml_files import faults_of


@pytest.fixture(autouse=True)
def _the_schema_accepts_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_run(config: Path) -> Configured:
        found = configured(config)
        assert not faults_of(config)
        return found

    def of_selection(config: Path) -> Selection:
        found = configured_selection(config)
        assert not faults_of(config)
        return found

    monkeypatch.setattr("discreet.runs.run.configured", of_run)
    monkeypatch.setattr("discreet.runs.select.configured_selection", of_selection)
