"""Problems for the systems that courses are held in, each marked there as far as it can be."""
