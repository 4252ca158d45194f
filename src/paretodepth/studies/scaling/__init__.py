"""Fits of many samples."""
