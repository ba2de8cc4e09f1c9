-- sold_form(chip_name, form_name): The form in which a chip is sold, where it is stated or there is only one.
-- Of B200 and B300 there is only one (https://www.nvidia.com/en-us/data-center/hgx/).
select coalesce(form_name, case when chip_name in ('B200', 'B300') then 'SXM' end) as form
