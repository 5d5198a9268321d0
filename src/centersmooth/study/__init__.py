"""Studies: inputs times settings, certified into a run that survives any crash."""

from centersmooth.study.run import Summary
from centersmooth.study.setting import PublishedProcedure, Setting
from centersmooth.study.study import Study

__all__ = ["PublishedProcedure", "Setting", "Study", "Summary"]
