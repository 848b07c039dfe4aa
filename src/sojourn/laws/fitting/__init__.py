"""Parametric laws fitted by maximum likelihood."""
