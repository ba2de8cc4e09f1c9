"""The page of audited claims: what it shows of each, and that nothing from outside is more than text."""

import re

import duckdb
import paging
import pytest

from reports.pages import claims_page

HOSTILE = '<script>alert("x")</script>'
BAD = "physically_impossible"
AUDIT = (
    "claim_id", "article", "article_title", "place", "subject", "metric", "claim_kind", "claimed", "unit", "hedge",
    "claim_conditions", "claimed_as_of", "standing", "standing_today", "arithmetic", "readings", "bounds", "rests_on",
    "evidence_documents", "evidence_until",
)  # fmt: skip
ROWS = (
    ("A-1", "a.html", "A text", "Prices", "p5.48xlarge", "price_usd_per_hour_instance", "price", "98.32", "USD/h", "~",
     "on-demand", "2025-01-15", "consistent", "true then", "98.32 until 2025-06-23, then 55.04", "98.32; 55.04", None,
     None, "https://example.org/list; javascript:alert(1)", "2026-09-10"),
    ("A-2", "a.html", "A text", None, "H100", "price_per_chip", "price", "12.29", "USD/h", None, None, None,
     "arithmetic holds, input does not", "arithmetic holds, input does not", "98.32 / 8 = 12.29", None, None, "A-1",
     None, None),
    ("B-1", "b.html", None, None, "Trainium3", "throughput_tokens_per_s_per_chip", "throughput", "28500",
     "tokens/s/chip", "estimated", "pre-training", "2026", BAD, BAD, "479% of the bound", "dense; sparse",
     "dense: 5,946", None, None, None),
)  # fmt: skip


@pytest.fixture
def page(tmp_path):
    """Return a function that renders the page of rows and pairs."""

    def function(rows=ROWS, pairs=()):
        file = tmp_path / "prices.duckdb"
        file.unlink(missing_ok=True)
        with duckdb.connect(str(file)) as con:
            con.execute("create schema meta; create schema ref; create schema core; create schema int")
            con.execute("create table meta.build as select TIMESTAMP '2026-11-21 12:00' as built_at, '1' as version")
            con.execute(f"create table int.claim_audit ({', '.join(f'{name} VARCHAR' for name in AUDIT)})")
            con.execute("create table ref.claim (claim_id VARCHAR, source_url VARCHAR)")
            con.execute("create table int.option_saving (accelerator_name VARCHAR, way_rank INTEGER)")
            con.execute("insert into ref.claim values ('A-1', 'https://example.org/a'), ('B-1', 'javascript:alert(1)')")
            con.execute(
                "create table int.claim_contradiction (quantity VARCHAR, subject VARCHAR, unit VARCHAR, "
                "claim_id VARCHAR, claimed VARCHAR, article VARCHAR, verdict VARCHAR, other_claim_id VARCHAR, "
                "other_claimed VARCHAR, other_article VARCHAR, other_verdict VARCHAR, recomputed_value DOUBLE)"
            )
            for table, values in (("claim_audit", rows), ("claim_contradiction", pairs)):
                for row in values:
                    con.execute(f"insert into int.{table} values ({', '.join('?' * len(row))})", list(row))
        return paging.of(file, claims_page.render)

    return function


def test_each_claim_stands_with_hedge_title_date_and_both_verdicts(page):
    """A row quotes the figure with its hedge, names text and date, and has the verdict then and today."""
    text = page()
    assert "1 of 3" not in text, "what is true then or rests on a failure does not hold today"
    assert "0 of 3 published numbers hold today; 1 physically impossible" in text
    row = re.search(r'<tr>\n?<th[^>]*><span class="long" id="c-A-1">.*?</tr>', text, re.DOTALL)[0]
    assert "<q>~ 98.32 USD/h</q>" in row
    assert "A text" in row
    assert "2025-01-15" in row
    assert re.search(r"<td>consistent</td>\s*<td>true then</td>", row)
    assert "<details" in row
    assert "98.32 until 2025-06-23, then 55.04" in row
    assert 'href="https://example.org/list"' in row
    assert 'href="https://example.org/a"' in row
    assert '<a href="#c-A-1">A-1</a>' in text, "what it rests on is one click away"


def test_counts_stand_side_by_side(page):
    """The first table counts each verdict on its date and today, and names its kinds: a column a kind is too wide."""
    table = re.search(r'id="verdicts".*?</table>', page(), re.DOTALL)[0]
    cells = {
        re.match(r"([^<]+)", row)[1]: re.findall(r">(\d+)</td>", row)
        for row in re.findall(r'<th scope="row"[^>]*>(.*?)</tr>', table, re.DOTALL)
    }
    assert cells["true then"][:2] == ["0", "1"]
    assert cells["consistent"][:2] == ["1", "0"]
    assert cells["physically impossible"][:2] == ["1", "1"]
    assert len(re.findall(r'scope="col"', table)) == 4
    assert re.search(r">1 [a-z ]+</span>", table)


def test_filters_are_columns_and_all_rows_are_there_without_script(page):
    """Text, metric and verdicts can be picked; every row is in the page itself."""
    text = page()
    table = re.search(r'id="audit".*?</table>', text, re.DOTALL)[0]
    assert re.findall(r"<span data-pick>([^<]+)", table) == ["Text", "Metric", "On its date", "Today"]
    assert text.count('id="c-') == 3
    assert "hidden" not in table


def test_texts_that_disagree_show_both_and_the_evidence(page):
    """A pair has both figures with their verdicts, and what the evidence says; nothing where nothing decides."""
    pair = (
        "price",
        "p5.48xlarge",
        "USD/h",
        "A-1",
        "98.32",
        "a.html",
        "stale",
        "B-1",
        "38.06",
        "b.html",
        "inconsistent",
    )
    text = page(
        pairs=((*pair, 55.04), ("spec", "X", "GB", "A-2", "1", "a", "unverifiable", "B-1", "2", "b", "x", None))
    )
    table = re.search(r'id="pairs".*?</table>', text, re.DOTALL)[0]
    assert "98.32 USD/h" in table
    assert "38.06 USD/h" in table
    assert "55.04 USD/h" in table
    assert "nothing decides" in table
    assert "2 pairs of numbers" in table
    assert "arithmetic holds, input does not" in table, "of a failed input nothing is shown as sound"


def test_what_comes_from_outside_is_text(page):
    """Words, ids and addresses of claims never become elements or scripts."""
    plain = page()
    hostile = tuple(HOSTILE if name not in ("standing", "standing_today") else BAD for name in AUDIT)
    pair = (*[HOSTILE] * 11, None)
    text = page(rows=(*ROWS, hostile), pairs=(pair,))
    assert 'alert("x")' not in text
    assert text.count("<script") == plain.count("<script")
    assert 'href="javascript' not in text
    assert '"#c-<' not in text


def test_a_file_without_claims_has_a_page(page):
    """Nothing audited is said so."""
    assert "No published number was audited" in page(rows=())
