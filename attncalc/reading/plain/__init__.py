"""Plain texts: taken apart into named blocks of cells, before anybody asks what they are.

`tidy` and `tex` make one alphabet of Markdown, HTML and LaTeX, `grids` finds what stands in
brackets, `tables` and `rows` what stands in columns, `clauses` what equals what, and `blocks` puts
it together. `numerals` reads every number.
"""
