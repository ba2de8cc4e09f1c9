-- monthly(hourly_amount): A month of an hourly amount. 730 hours, a twelfth of a year of 8760.
select hourly_amount::DOUBLE * 730 as amount
