"""Reports: pages made from the published marts."""
