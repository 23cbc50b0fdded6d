"""What tokens are made of: the ids of a table's rows, a class token, types: fields, and steps."""
