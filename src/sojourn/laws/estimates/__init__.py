"""Laws estimated from lengths without a parametric family, and their confidence bands."""
