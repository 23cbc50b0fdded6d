"""What everything else uses: errors, texts made harmless, numbers, sources that were read."""

__version__ = "0.1.0"
