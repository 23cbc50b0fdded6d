"""Split plain texts into named blocks of cells, before the blocks are identified.

`tidy` and `tex` convert Markdown, HTML and LaTeX to one alphabet, `grids` finds matrices in
brackets, `tables` and `rows` find columns, `clauses` splits equations, and `blocks` combines them.
`numerals` reads every number.
"""
