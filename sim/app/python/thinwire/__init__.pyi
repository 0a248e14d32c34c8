from concurrent.futures import Executor
from os import PathLike
from typing import Any, Callable, Iterable, Literal, Mapping, NamedTuple, Optional, TypeVar, Union

import pandas

_Path = Union[str, PathLike[str]]
_Table = Literal["results", "phases", "links", "ranks"]

__version__: str

class InputError(ValueError): ...

class SimulationError(RuntimeError):
    results: Results

class Results(pandas.DataFrame):
    def full(self) -> Results: ...

_Drawn = Union[pandas.DataFrame, _Path, Iterable[_Path]]
_Length = Union[str, float, None]
_Progress = Union[Callable[[int, int, float], object], Literal[False], None]
_To = TypeVar("_To", bound=_Path)

class Figure:
    svg: str
    def __init__(self, files: Any, options: Any, rows: Any = ...) -> None: ...
    def save(self, path: _To) -> _To: ...

class Page:
    html: str
    def __init__(self, files: Any, options: Any, rows: Any = ...) -> None: ...
    def save(self, path: _To) -> _To: ...

class Recommendation(NamedTuple):
    candidates: pandas.DataFrame
    crossovers: pandas.DataFrame
    assumptions: pandas.DataFrame
    slower: pandas.DataFrame
    forecast: pandas.DataFrame
    answer: str

def run(config: Union[_Path, Mapping[str, Any], None] = ..., *, table: _Table = ..., output: Optional[_Path] = ...,
        jobs: Optional[int] = ..., time_limit_s: Optional[float] = ..., memory_limit_mib: Optional[float] = ...,
        progress: _Progress = ..., verbose: bool = ...,
        **settings: Any) -> Results: ...
def sweep(config: Union[_Path, Mapping[str, Any]], output: Optional[_Path] = ..., *, jobs: Optional[int] = ...,
          force: bool = ..., time_limit_s: Optional[float] = ..., memory_limit_mib: Optional[float] = ...,
          progress: _Progress = ..., executor: Optional[Executor] = ...) -> Results: ...
def load(results: Union[_Path, Iterable[_Path]], *, where: Optional[Mapping[str, Any]] = ...,
         table: _Table = ...) -> Results: ...
def compare(results: Union[_Path, Iterable[_Path]], *, baseline: Union[_Path, Iterable[_Path], None] = ...,
            tolerance: float = ..., where: Optional[Mapping[str, Any]] = ...,
            group_by: Union[str, Iterable[str], None] = ...) -> Results: ...
def recommend(model: _Path, *, schemes: Union[str, Iterable[str]] = ..., all: bool = ..., crossovers: bool = ...,
              most_ranks: int = ..., density_of: Literal["rank", "sum"] = ..., state_bytes: float = ...,
              most_seconds: float = ..., jobs: Optional[int] = ...,
              forecast: Optional[Callable[[pandas.DataFrame], Any]] = ..., progress: _Progress = ...,
              **settings: Any) -> Recommendation: ...
def figure(results: _Drawn, figure: str = ..., *, where: Optional[Mapping[str, Any]] = ..., title: Optional[str] = ...,
           width: _Length = ..., height: _Length = ..., font: Optional[str] = ..., font_size: _Length = ...,
           panels_per_row: Optional[int] = ...) -> Figure: ...
def report(results: _Drawn, *, where: Optional[Mapping[str, Any]] = ..., title: Optional[str] = ...) -> Page: ...
def topo(action: str, *arguments: _Path, **options: Any) -> Union[pandas.DataFrame, str]: ...
def fit(*arguments: _Path, **options: Any) -> Union[pandas.DataFrame, str]: ...
def command(*arguments: _Path, **options: Any) -> str: ...
def settings() -> pandas.DataFrame: ...
def schemes() -> list[str]: ...
def platforms() -> list[str]: ...
