"""Operations as equations in index notation: parsed once, interpreted many ways."""
