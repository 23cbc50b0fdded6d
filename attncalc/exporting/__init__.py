"""Problems for course systems, marked there as far as possible."""
