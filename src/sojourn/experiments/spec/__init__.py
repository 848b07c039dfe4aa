"""From a TOML spec to checked settings: everything that happens before a trial is played."""
