-- When the file was made: the only clock of its pages.
select built_at
from meta.build
