"""Documents as PDF pages without LaTeX: boxes of text, laid out here and drawn by matplotlib."""
