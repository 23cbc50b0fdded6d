"""Studies: a problem with changes and watched quantities; values only.

All solve through the one plan: few problems exactly, one by one; many in floats, as a family.
"""
