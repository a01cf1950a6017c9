"""The story's chapters: each is a class whose steps are methods, titled by their docstrings."""

from project.demo.chapters.access import Access
from project.demo.chapters.erasure import Erasure
from project.demo.chapters.figures import Figures
from project.demo.chapters.operation import Operation
from project.demo.chapters.outside import Outside
from project.demo.chapters.playlists import Playlists
from project.demo.chapters.reports import Reports
from project.demo.chapters.repricing import Repricing

__all__ = ["Access", "Erasure", "Figures", "Operation", "Outside", "Playlists", "Reports", "Repricing"]
