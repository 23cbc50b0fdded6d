"""Problems made anew: drawn, solved, and kept where they are what was wished for."""
