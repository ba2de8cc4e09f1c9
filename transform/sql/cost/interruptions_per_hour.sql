-- interruptions_per_hour(monthly_share between 0 and 1): Interruptions of one machine an hour, from a monthly share.
-- Interruptions of one machine an hour, from the share of machines that are interrupted in a month (as AWS's Spot
-- Advisor bands it): -ln(1 - share) / 730, interruptions being independent of each other.
select -ln(1e0 - monthly_share) / 730 as interruptions
