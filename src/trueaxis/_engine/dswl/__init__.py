"""The stages of a DSWL fit."""
