"""The rules of the house that a machine can hold."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import centersmooth as cs
from centersmooth import errors

SOURCE = Path(cs.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

# From the ground up: a module imports those before it in this list only.
LAYERS = (
    *("errors", "binomial", "monotone", "demo_model", "directions", "moments", "sketch", "outputs"),
    *("confidence",),
    *("specification", "kernels", "noise", "metrics", "models", "sampling", "tuning", "progress"),
    *("centers", "theorems", "design", "goals", "looks", "stopping"),
    *("planning", "wording", "certificates", "plotting"),
    *("procedure", "answering", "published", "certifying", "smoother", "attacks"),
    *("executors", "store", "study", "report"),
    *("demo_pictures", "demo", "cli", "__main__", "__init__"),
)
# Pictures are imported when asked for: a certificate without matplotlib is a certificate.
WHEN_USED = {("certificates", "plotting")}
SPEAKING = {"cli", "demo", "__main__"}


def component(path: Path) -> str:
    """The module or package directly below centersmooth that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported(tree: ast.Module) -> Iterator[str]:
    """The components of centersmooth a file imports when it runs, wherever in the file."""
    for_types = {id(n) for node in ast.walk(tree) if is_for_types(node) for n in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (
                a.name.split(".")[1] for a in node.names if a.name.startswith("centersmooth.")
            )
        elif isinstance(node, ast.ImportFrom) and node.module == "centersmooth":
            yield from (alias.name for alias in node.names if alias.name != "__version__")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("centersmooth."):
            yield (node.module or "").split(".")[1]


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(SOURCE)}: {node.name}", node


def test_every_file_has_its_place_in_the_order() -> None:
    assert {component(path) for path in FILES} <= set(LAYERS)
    assert len(set(LAYERS)) == len(LAYERS)


def test_imports_point_one_way() -> None:
    height = {name: place for place, name in enumerate(LAYERS)}
    wrong = {
        f"{path.relative_to(SOURCE)} imports {below}"
        for path, tree in TREES.items()
        for below in imported(tree)
        if below != component(path)
        and (component(path), below) not in WHEN_USED
        and height[below] > height[component(path)]
    }
    assert not wrong


def test_the_order_would_notice_an_import_that_points_up() -> None:
    tree = ast.parse("def f():\n    from centersmooth.smoother import Smoother\n")
    assert list(imported(tree)) == ["smoother"]
    typed = ast.parse("if TYPE_CHECKING:\n    from centersmooth.smoother import Smoother\n")
    assert not list(imported(typed))


def test_importing_the_library_imports_nothing_for_show() -> None:
    """Terminal, pictures and reports are loaded when used, and no optional package ever."""
    shown = {"matplotlib", "rich", "typer", "jinja2", "pandas", "ray", "onnxruntime", "jax"}
    code = f"import sys, centersmooth; print([m for m in {shown!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_is_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_no_function_is_too_long() -> None:
    """Fifty lines at most, not counting the signature and the docstring."""
    long = []
    for name, node in functions():
        start = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
        if (node.end_lineno or 0) - start.lineno + 1 > 50:
            long.append(name)
    assert not long


def test_the_library_does_not_print() -> None:
    printing = [
        str(path.relative_to(SOURCE))
        for path, tree in TREES.items()
        if component(path) not in SPEAKING
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "print"
        and not any(keyword.arg == "file" for keyword in node.keywords)
    ]
    assert not printing


def test_every_error_is_worded_by_the_one_function() -> None:
    """Never a bare string: "expected ..., got ...", then the fix."""
    tree = {name for name, kind in vars(errors).items() if inspect.isclass(kind)}
    bare = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, source in TREES.items()
        for node in ast.walk(source)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and ast.unparse(node.exc.func) in tree
        and any(isinstance(word, (ast.Constant, ast.JoinedStr)) for word in node.exc.args)
    ]
    assert not bare


def test_nothing_is_left_for_later() -> None:
    words = ("TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK")
    left = [
        f"{path.relative_to(SOURCE)}: {word}"
        for path in FILES
        for word in words
        if word in path.read_text(encoding="utf-8")
    ]
    assert not left
    assert not {"utils", "helpers", "common", "misc"} & {path.stem for path in FILES}


@pytest.mark.parametrize("module", ["", ".metrics", ".models", ".noise"])
def test_every_public_name_exists_and_is_explained(module: str) -> None:
    package = importlib.import_module(f"centersmooth{module}")
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        thing = getattr(package, name)
        if inspect.isclass(thing) or inspect.isfunction(thing) or inspect.ismodule(thing):
            assert inspect.getdoc(thing), f"{package.__name__}.{name} has no docstring"


def test_types_are_shipped() -> None:
    assert (SOURCE / "py.typed").exists()
    assert cs.__version__.count(".") == 2
