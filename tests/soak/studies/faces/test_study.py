"""The study of faces as a whole, on invented images and on Yale."""

import pytest

from studies.data import FACES
from studies.faces import methods as faces_methods
from studies.faces import study as faces
from studies.faces.study import FacesStudy
from studies.study import run
from tests.soak.studies.invented_images import invented


@pytest.fixture
def made_up(monkeypatch):
    def pictures(name, data_home=None):
        return invented(seed=FACES.index(name))

    monkeypatch.setattr(faces, "pictures", pictures)
    monkeypatch.setattr(faces_methods, "pictures", pictures)
    faces_methods.chosen_heat.cache_clear()
    yield
    faces_methods.chosen_heat.cache_clear()


@pytest.mark.slow
def test_study_of_invented_images(made_up, tmp_path, monkeypatch):
    study = FacesStudy(("orl",), run_folds=1, ks=(20, 100))
    results = run(study, tmp_path)
    n_methods = len(faces_methods.TITLES)
    assert len(results.rows) == 2 * n_methods
    [dswl] = results.where(set="orl", method="dswl", k=20)
    [plain] = results.where(set="orl", method="pca", k=20)
    [oracle] = results.where(set="orl", method="oracle", k=20)
    assert dswl["error"] < 1.02 * oracle["error"] < plain["error"]
    assert dswl["occluded_kept"] == 0

    text = study.section(results)
    for words in ("Verdicts", "PSNR at k = 100", "Folds run: ORL 1 (k = 20 to 100)"):
        assert words in text
    assert "nan" not in text.replace("discriminant", "")

    files = study.figures(results, tmp_path / "figures")
    assert all(file.stat().st_size > 1000 for file in files)
    private = [file.name for file in files if file.parent.name == "private"]
    assert private == ["faces-samples.png", "faces-reconstructed.png"]
    public = [file.name for file in files if file.parent.name != "private"]
    assert public == ["faces-error.png", "faces-weights.png"]

    # Nothing is done twice, and what is done again gives the same numbers.
    with monkeypatch.context() as patch:
        patch.setattr(FacesStudy, "run", lambda self, task: pytest.fail(str(task)))
        assert run(study, tmp_path).rows == results.rows
    task = ("orl", "fold0", "dswl-published", "block0")
    assert study.run(task).rows == results.outcomes[task].rows
