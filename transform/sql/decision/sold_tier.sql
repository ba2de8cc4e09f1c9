-- sold_tier(tier_name): The tier that a provider sells under a name, NULL where the name says something else.
-- Collectors write where they read a price (page, api, their own catalogue) or how it is bought in the place of a tier.
select
    case
        when
            tier_name not in (
                'api', 'page', 'page_from_price', 'skypilot_catalog', 'hand_curated', 'on-demand', 'on_demand', 'spot'
            )
            then tier_name
    end as tier
