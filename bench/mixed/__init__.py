"""Parts of ``bench.mixed_load``: the site, what is loaded, who comes, what is watched, what is
checked."""
