"""Documents as HTML pages, complete without JavaScript: elements, mathematics, pictures."""
