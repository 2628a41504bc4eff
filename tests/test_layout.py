"""The tree, the map in CONTRIBUTING.md and the imports agree."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import trueaxis
from size import Size, size_of_text, sizes_by_folder, total

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "trueaxis"
LIMITS = Size(modules=94, lines=25_000, statements=11_500)

# Imports against the order, inside a function, each with its reason.
EXCEPTIONS = {
    # `outliers()` and `wrong_cells()` are conveniences: diagnostics build on these.
    ("base", "diagnostics/"),
    ("dswl/estimator", "diagnostics/"),
    # Text larger than memory is read by the reader of tables.
    ("data/text", "io/"),
}


def modules():
    """Name and path of every module of the package, packages by their folder."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if name != "__init__":
            yield name.removesuffix("/__init__"), path


NAMES = {name for name, _ in modules()}


def imported(tree):
    """Modules of the package that code imports when it runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(
            "trueaxis."
        ):
            folder = node.module.removeprefix("trueaxis").lstrip(".").replace(".", "/")
            for name in node.names:
                full = f"{folder}/{name.name}".lstrip("/")
                yield full if full in NAMES else folder
        yield from imported(node)


def part(name):
    """The folder that a module is in, or the module itself."""
    folder = name.split("/")[0]
    return f"{folder}/" if (PACKAGE / folder).is_dir() else folder


PARTS = list(dict.fromkeys(part(name) for name in NAMES))
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
MAP = [
    each
    for cell in re.findall(r"^\| (`.*?) \|", TEXT, re.M)
    for each in re.findall(r"`(.*?)`", cell)
]


def test_the_map_lists_every_part_once():
    assert sorted(MAP) == sorted(PARTS)


def test_modules_import_only_from_parts_above_them():
    for name, path in modules():
        for other in imported(ast.parse(path.read_text())):
            here, there = part(name), part(other)
            if other and here != there and (name, there) not in EXCEPTIONS:
                assert MAP.index(there) < MAP.index(here), (name, other)


def test_modules_form_no_cycle():
    imports = {
        name: set(_at_import_time(ast.parse(path.read_text()))) - {name, ""}
        for name, path in modules()
    }
    done: set[str] = set()
    while imports:
        free = {name for name, others in imports.items() if others <= done}
        assert free, f"these import each other: {sorted(imports)}"
        done |= free
        imports = {name: others for name, others in imports.items() if name not in free}


def _at_import_time(tree):
    """Modules imported when a module is, and not in a function."""
    body = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    return imported(
        ast.Module([n for n in body if not isinstance(n, ast.ClassDef)], [])
    )


def test_no_class_name_means_two_things():
    classes = Counter(
        node.name
        for _, path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_no_function_shadows_a_module():
    for name in sorted(NAMES - {"__main__"}):
        module = importlib.import_module(f"trueaxis.{name.replace('/', '.')}")
        folder, _, leaf = module.__name__.rpartition(".")
        assert getattr(sys.modules[folder], leaf) is module


def fresh(code):
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_importing_the_method_loads_no_reader_of_tables():
    loaded = fresh(
        "import sys, trueaxis; trueaxis.DSWL;"
        "print(*(name for name in sys.modules if name.split('.')[0] == 'trueaxis'))"
    )
    assert len(loaded) <= 60
    assert not [name for name in loaded if re.search(r"pars|text|sheets", name)]


def test_a_fit_runs_through_few_modules():
    """As the profiler sees them: modules of which a function is called."""
    ran = fresh(
        "import sys, numpy; from trueaxis import DSWL;"
        "X = numpy.random.default_rng(0).standard_normal((200, 8)); ran = set();"
        "sys.setprofile(lambda frame, *_: ran.add(frame.f_code.co_filename));"
        "DSWL(3).fit(X); sys.setprofile(None);"
        "print(*(name for name in ran if 'trueaxis' in name))"
    )
    assert 10 < len(ran) <= 25, sorted(ran)


def test_the_surface_is_small():
    assert len(trueaxis.__all__) <= 12
    plumbing = {"get_metadata_routing", "set_fit_request"}  # of scikit-learn
    plumbing |= {"set_output", "get_feature_names_out"}
    methods = {
        name
        for name in dir(trueaxis.DSWL)
        if not name.startswith("_") and callable(getattr(trueaxis.DSWL, name))
    }
    assert len(methods - plumbing) <= 18, sorted(methods)
    assert len(inspect.signature(trueaxis.DSWL).parameters) <= 9


def test_statements_are_counted_without_docstrings():
    code = '''"""Doc."""
class A:
    """Doc."""
    def f(self): return "x"
'''
    assert size_of_text(code) == Size(modules=1, lines=4, statements=3)


def test_the_package_does_not_grow():
    size = total([*sizes_by_folder(PACKAGE).values()])
    for name, limit in LIMITS._asdict().items():
        assert getattr(size, name) <= limit, f"{size} (python tools/size.py)"
