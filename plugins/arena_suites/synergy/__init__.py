"""SYNERGY: systematic reviews with the inclusion of every candidate (DOI 10.34894/HE6NAQ)."""
