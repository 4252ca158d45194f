"""Speed, measured as ratios within one run: against numpy's sort and against the peers that are installed."""
