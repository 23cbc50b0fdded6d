"""Studies: a problem with changes and watched quantities; values only.

    changes.Change, draws.Draw    what changes: by given values, or at random
    watched.Watched               what is watched: entries of steps, and measures of them
    vary.vary                     the same problem at each of these values
    simulate.simulate             the same problem, drawn again and again
    aim.aim                       the query that reaches given weights

All of them solve through the one plan: a few problems exactly, one by one, with the digits of a
`Solution`; many at once in floats, as a family with a leading axis.
"""
