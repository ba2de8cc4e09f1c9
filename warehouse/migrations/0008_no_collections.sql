-- Other processes collect no groups of scopes any more: what they wrote of them is of no use.

drop table meta.collection;
