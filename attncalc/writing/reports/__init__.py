"""How a marking is shown: tables, JSON, markdown, and a row for each of many answers."""
