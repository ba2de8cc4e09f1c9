"""What each purchase option promises: the dated table `data/purchase_term.csv`, one option a row.

`data/README.md` says how it is filled.
"""

from warehouse.reference.table import Model, Rule, fields_of_columns
from warehouse.schema.tables import table_named

TERM = table_named("ref.purchase_term")
MODEL = Model(
    file="purchase_term.csv",
    key="purchase_option",
    fields=fields_of_columns(TERM.columns, ("service_provider_name", "purchase_option", "source_url", "accessed_on")),
    may_be_zero=("lead_time_hours", "shortest_term_hours", "longest_term_hours"),
    rules=(
        Rule("shortest_term_hours", "longer than longest_term_hours", "shortest_term_hours <= longest_term_hours"),
        Rule(
            "source_url",
            "no public address to check the fact at",
            r"regexp_like(source_url, '^https://\S+( +https://\S+)*$')",
        ),
    ),
    unique=("service_provider_name", "purchase_option", "commitment_discount_type", "offering_class", "known_from"),
    repeated="a second row for the same option and known_from",
)
