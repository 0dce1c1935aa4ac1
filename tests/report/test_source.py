"""LaTeX sources made by hand: files that read files, BibTeX, and lists of both kinds."""

import io
import tarfile

import pytest

from arena.errors import DataError
from corpus_builder.latex_source import read_source

BIB = r"""
@string{icml = "ICML"}
@inproceedings{Lee_19:a, title = {{Deep} {\v{C}}ech nets}, author = "Lee, Ann", booktitle = icml,
  year = 2019}
@article{wu, title = "Sch{\"o}n trees {\&} forests", author = {Bo Wu and Ann Lee},
  journal = {arXiv preprint arXiv:2001.00001}, year = {2020}}
@comment{ignored}
@book(listed, title = {Only listed}, author = {Cy Roe}, year = 2001)
@misc{hidden, title = {Behind a comment}, author = {Cy Roe}, year = 2002}
"""
MAIN = r"""
\documentclass{article}
\addbibresource{lists/own.bib}
\begin{document}
\input{parts/one} % \cite{hidden}
100\% of it \citep[see][p.~3]{wu,
  missing}. \nocite{listed}
\subfile{parts/one}
\end{document}
"""


def found(path):
    return [(work.key, work.title, work.year, work.ids) for work in read_source(path).references]


def test_what_the_text_cites_is_found_in_bibtex(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "lists").mkdir()
    (tmp_path / "main.tex").write_text(MAIN)
    (tmp_path / "parts" / "one.tex").write_text(r"Nets \parencite{Lee_19:a} work. \input{one}")
    (tmp_path / "lists" / "own.bib").write_text(BIB)
    (tmp_path / "answer.tex").write_text(r"\begin{document}To a referee.\end{document}")
    assert found(tmp_path) == [
        ("Lee_19:a", "Deep Cech nets", 2019, ()),
        ("wu", "Schon trees & forests", 2020, ("arxiv:2001.00001",)),
    ]


NATBIB = r"""
\begin{thebibliography}{2}
\providecommand{\natexlab}[1]{#1}
\bibitem[{Lee et~al.(2019)Lee, Wu,
  and Roe}]{lee}
A.~Lee, B.~Wu, and C.~Roe.
\newblock Flat nets of [deep] trees.
\newblock In \emph{Proc. of ICML}, 2019.

\bibitem[Wu(2020)]{wu}
B.~Wu.
\newblock {Trees as forests}.
\newblock \emph{Journal of Trees}, 3:\penalty0 1--9, 2020.
\newblock \doi{10.1000/xyz.1}.
\end{thebibliography}
"""
BIBLATEX = r"""
\entry{lee}{article}{}
  \name{author}{1}{}{{{un=0}{family={Lee}}}}
  \field{title}{Flat nets of [deep] trees}
  \field{year}{2019}
\endentry
\entry{wu}{article}{}
  \field{title}{Trees as forests}
  \field{year}{2020}
  \verb{doi}
  \verb 10.1000/xyz.1
  \endverb
\endentry
"""


@pytest.mark.parametrize("bbl", [NATBIB, BIBLATEX])
def test_a_list_without_bibtex_is_read_from_an_archive(tmp_path, bbl):
    text = r"\begin{document}A~\cite{wu} B~\Citet*{lee}\bibliography{gone}\end{document}"
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        for name, content in {"ms.tex": text, "ms.bbl": bbl, "figure.png": "\0"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    wu, lee = found(tmp_path / "x.tar.gz")
    assert wu == ("wu", "Trees as forests", 2020, ("doi:10.1000/xyz.1",))
    assert lee == ("lee", "Flat nets of [deep] trees", 2019, ())


def test_a_list_inside_the_text_is_read(tmp_path):
    text = rf"\begin{{document}}A \cite{{wu}}.{NATBIB}\end{{document}}"
    (tmp_path / "a.tex").write_bytes(text.replace("Trees as", "Tr\xe9es as").encode("latin-1"))
    assert [title for _, title, *_ in found(tmp_path)] == ["Tr\xe9es as forests"]


def test_files_that_read_each_other_twice_cost_no_more_than_one(tmp_path):
    for n in range(60):
        (tmp_path / f"f{n}.tex").write_text(rf"\cite{{k{n}}}\input{{f{n + 1}}}\input{{f{n + 1}}}")
    entries = "".join(
        rf"\bibitem{{k{n}}} A. Lee. Title number {n}. 2001." + "\n" for n in range(60)
    )
    (tmp_path / "a.tex").write_text(rf"\begin{{document}}\input{{f0}}{entries}\end{{document}}")
    assert [key for key, *_ in found(tmp_path)] == [f"k{n}" for n in range(60)]


@pytest.mark.parametrize(
    "text", ["{", "[", "%", "\\", "\\cite{", "\\bibitem[", "\\bibitem[{", "@a{", "$"]
)
def test_no_source_takes_long(tmp_path, text):
    (tmp_path / "a.tex").write_text("\\begin{document}\\cite{a}" + text * (100_000 // len(text)))
    assert read_source(tmp_path).references == ()


@pytest.mark.parametrize("name", ["empty", "file.pdf", "absent"])
def test_what_is_no_source_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.pdf").write_bytes(b"%PDF")
    with pytest.raises(DataError, match=name):
        read_source(tmp_path / name)
