"""Documents as pages of HTML, whole without any JavaScript: elements, mathematics, pictures."""
