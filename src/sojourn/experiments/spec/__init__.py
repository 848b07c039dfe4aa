"""From a TOML spec to the settings of every trial.

Modules:
    `_experiment`: reads a spec; `Experiment` and its cells.
    `_toml`: parses the file.
    `_grid`: expands grids.
    `_agent_settings`, `_agent_types`, `_plain_values`, `_relative_laws`: an agent's table as plain settings.
    `_code_identity`: hash of the user's own modules.
    `_import_path`: lets a spec name modules beside it.
    `_examples`: the specs that come with the package.
"""
