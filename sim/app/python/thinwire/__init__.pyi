from os import PathLike
from typing import Any, Callable, Iterable, Literal, Mapping, NamedTuple, Optional, Union

import pandas

_Path = Union[str, PathLike[str]]
_Table = Literal["results", "phases", "links", "ranks"]

__version__: str

class InputError(ValueError): ...

class SimulationError(RuntimeError):
    results: Results

class Results(pandas.DataFrame): ...

class Recommendation(NamedTuple):
    candidates: pandas.DataFrame
    crossovers: pandas.DataFrame
    assumptions: pandas.DataFrame

def run(config: Union[_Path, Mapping[str, Any], None] = ..., *, table: _Table = ..., output: Optional[_Path] = ...,
        jobs: Optional[int] = ..., time_limit_s: Optional[float] = ..., memory_limit_mib: Optional[float] = ...,
        progress: Optional[Callable[[int, int, float], object]] = ..., verbose: bool = ...,
        **settings: Any) -> Results: ...
def sweep(config: Union[_Path, Mapping[str, Any]], output: Optional[_Path] = ..., *, jobs: Optional[int] = ...,
          force: bool = ..., time_limit_s: Optional[float] = ..., memory_limit_mib: Optional[float] = ...,
          progress: Optional[Callable[[int, int, float], object]] = ...) -> Results: ...
def load(results: Union[_Path, Iterable[_Path]], *, where: Optional[Mapping[str, Any]] = ...,
         table: _Table = ...) -> Results: ...
def compare(results: Union[_Path, Iterable[_Path]], *, baseline: Union[_Path, Iterable[_Path], None] = ...,
            tolerance: float = ..., where: Optional[Mapping[str, Any]] = ...,
            group_by: Union[str, Iterable[str], None] = ...) -> Results: ...
def recommend(model: _Path, *, schemes: Union[str, Iterable[str]] = ..., crossovers: bool = ...,
              most_ranks: int = ..., density_of: Literal["rank", "sum"] = ..., state_bytes: float = ..., jobs: int = ...,
              **settings: Any) -> Recommendation: ...
def settings() -> pandas.DataFrame: ...
def schemes() -> list[str]: ...
def platforms() -> list[str]: ...
