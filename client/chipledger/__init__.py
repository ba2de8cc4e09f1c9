"""What AI accelerators cost to rent, and a token on them: chipledger's published data as Arrow, polars or pandas.

>>> import chipledger
>>> prices = chipledger.open("prices.duckdb")  # or a folder of Parquet, or the address of either
>>> prices.cheapest("H100").df()

What is current, ranked and cheapest is what the published tables say: nothing is computed here.
"""

from chipledger.reader import Answer, Prices, ReaderError, open

__all__ = ["Answer", "Prices", "ReaderError", "open"]
