-- option_kinds(purchase_option, commitment_class): Ways to buy under which a table shows an offer, as a list.
-- A commitment is a plan, and of a year that too; of other purchase options the option itself.
select
    case
        when purchase_option not in ('reserved', 'savings_plan') then [purchase_option]
        when commitment_class = 'one_year' then ['plan', 'one_year']
        else ['plan']
    end as kinds
