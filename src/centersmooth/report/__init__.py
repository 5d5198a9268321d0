"""Records of a run -> groups -> panels -> figures and tables -> one self-contained page."""

from centersmooth.report.writing import Report, write_report

__all__ = ["Report", "write_report"]
