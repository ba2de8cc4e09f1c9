"""Catalogues of many providers' prices."""
