"""Compiled scanning of files."""
