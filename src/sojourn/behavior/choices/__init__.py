"""Discount functions estimated from choices between a sooner and a later reward."""
