"""The one Java class that Lucene lacks, compiled.

Lucene asks its similarity for two numbers about the collection, and takes both from the whole
index. There is no setting for them, a JRE has no compiler, and pyjnius cannot subclass. And of the
methods that pyjnius calls, only static ones with a name of their own may run in several threads at
once (see `_jvm`). So the class file of this source is kept here; tests/class_file.py makes it again
from its instructions (Java Virtual Machine Specification, chapter 4)::

    public class arena.BM25 extends org.apache.lucene.search.similarities.BM25Similarity {
        public long documents;
        public float average;
        public BM25(float k1, float b) { super(k1, b); }
        protected float idf(long df, long n) { return super.idf(df, documents); }
        protected float avgFieldLength(CollectionStatistics s) { return average; }
        public static int score(BulkScorer s, LeafCollector c, int low, int high) {
            return s.score(c, null, low, high);
        }
    }
"""

from __future__ import annotations

import base64
import zlib

NAME = "arena.BM25"

_COMPRESSED = (
    "c-oDTO-sW-"
    "5Qg7r8)IVp{?=*{J=l5(h~lB*p+cagUMzTD(zRWTi6mRW|0IGS3Lg9c{wQ&_M!Z;&g`J(9XJ%jCegAlU18{^2!4;{Dh2"
    "J>aKeR!FgCy<w;zoph=|_W5#?sHENW;FLscRL9RB0u%A>aAFxU*3tINc;1T+3Kz1Zoj%aVt~Nlbi*Fv11i0eL}EygP?l"
    "h!GY_dgb70FH0eqY7RDSDFhwY;?xg`+t!m(52D1j7^I&7#5DSDUaoY=&jJj<Z_jI4IzuO)u{4|Lo8ETcp9WAuVv<kC&l"
    "{Hyen53+)^+$7CipzXJlGcCW23kdaL+PyEY*w2dR<KIg9yzZuh^{*3+0@3mi!#;-"
    "=YPEa!`J^S(&)ez8&%>@E`W@)d?Mo?#}c2|eBLKHn@5osVAr;HUf?|fLxfGwfhBIYIJ&h;?FrK_n19HbB`oKRVGA5BCK"
    "kWS4jZwVmlt_}(c;whsJ!uvjr$>jPwl{#hy"
)


def class_file() -> bytes:
    """Return the class file."""
    return zlib.decompress(base64.b85decode(_COMPRESSED))
