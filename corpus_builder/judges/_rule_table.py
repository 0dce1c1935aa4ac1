"""The table of the judge ``rules``: patterns for and against a literature survey."""

from __future__ import annotations

import re
from typing import NamedTuple

KIND = r"(?:surveys?|reviews?|overviews?)"
PEOPLE = (
    r"(?:patients|students|undergraduates|graduates|pupils|teachers|educators|lecturers|faculty|"
    r"physicians|doctors|surgeons|clinicians|nurses|dentists|pharmacists|radiologists|"
    r"psychiatrists|psychologists|practitioners|professionals|programmers|developers|engineers|"
    r"testers|scientists|researchers|authors|experts|members|managers|executives|employees|"
    r"employers|workers|farmers|fishers|consumers|customers|households|families|parents|mothers|"
    r"adults|adolescents|children|women|men|girls|boys|veterans|residents|citizens|voters|migrants|"
    r"participants|volunteers|subjects|interviewees|people|persons|individuals|twins|schools|"
    r"hospitals|clinics|universities|colleges|libraries|librarians|companies|firms|businesses|"
    r"enterprises|organi[sz]ations|villages|smokers|drivers|owners|survivors|caregivers)"
)
PLACE = (
    r"(?:africa|algeria|argentina|asia|australia|austria|bangladesh|belgium|botswana|brazil|"
    r"britain|bulgaria|cameroon|canada|chile|china|colombia|croatia|cuba|czech republic|denmark|"
    r"egypt|england|estonia|ethiopia|europe|finland|france|germany|ghana|greece|hong kong|hungary|"
    r"iceland|india|indonesia|iran|iraq|ireland|israel|italy|japan|jordan|kenya|kuwait|lebanon|"
    r"libya|malawi|malaysia|mali|mexico|morocco|mozambique|nepal|netherlands|new zealand|nigeria|"
    r"north america|norway|oman|pakistan|peru|philippines|poland|portugal|qatar|romania|russia|"
    r"rwanda|saudi arabia|scotland|senegal|serbia|singapore|slovakia|slovenia|south africa|"
    r"south korea|korea|spain|sri lanka|sub-saharan africa|sudan|sweden|switzerland|syria|taiwan|"
    r"tanzania|thailand|tunisia|turkey|uganda|ukraine|united kingdom|u\.?k\.?|united states|"
    r"u\.s\.(?:a\.)?|usa|vietnam|wales|yemen|zambia|zimbabwe)"
)
NATION = (
    r"(?:american|asian|australian|austrian|belgian|brazilian|british|canadian|chilean|chinese|"
    r"danish|dutch|egyptian|english|european|finnish|french|german|greek|hungarian|indian|"
    r"iranian|irish|israeli|italian|japanese|kenyan|korean|mexican|nigerian|norwegian|pakistani|"
    r"polish|portuguese|russian|scottish|south african|spanish|swedish|swiss|thai|turkish|welsh)"
)
ASKED = (
    r"(?:questionnaire|opinion|attitudes?|knowledge|awareness|satisfaction|climate|needs|"
    r"readership|"
    r"practice|mail|mailed|postal|e-?mail|telephone|phone|mobile phone|web|web-based|internet|"
    r"online|on-line|paper|household|population|population-based|community|community-based|"
    r"census|panel|labou?r force|expenditure|consumption|income|budget|time[- ]use|"
    r"victimi[sz]ation|"
    r"demographic|social|values|election|exit|consumer|customer|employee|employer|user|developer|"
    r"practitioner|expert|industry|industrial|business|establishment|enterprise|teacher|student|"
    r"school|physician|nurse|patient|parent|pilot|longitudinal|follow-up|cross-sectional|"
    r"multicent(?:er|re)|national|nationwide|nation-wide|international|worldwide|countrywide|"
    r"regional|district|city|statewide|self-report(?:ed)?|self-administered|anonymous|delphi)"
)
HEALTH = (
    r"(?:health|nutrition|examination|dietary|food|prevalence|incidence|epidemiologic(?:al)?|"
    r"serologic(?:al)?|sero-?prevalence|sero-?epidemiologic(?:al)?|malaria|malariometric|"
    r"tuberculosis|hiv|std|immuni[sz]ation|coverage|cluster|mortality|morbidity|dental|caries|"
    r"parasitologic(?:al)?|entomologic(?:al)?|helminth|drug use|substance abuse|risk factor|"
    r"behaviou?ral|comorbidity|disability|injury|autopsy|pathologic(?:al)?|surveillance)"
)
SKY = (
    r"(?:sky|all-sky|redshift|galaxy|galaxies|galactic|extragalactic|galactic plane|quasars?|qso|"
    r"agn|blazar|pulsar|supernovae?|planet|exoplanet|transit|asteroid|comet|dwarf|halo|binary|"
    r"lens(?:ing)?|weak lensing|strong lensing|dark energy|bao|continuum|imaging|photometric|"
    r"spectroscopic|spectral|spectral line|line|molecular line|infrared|near-infrared|mid-infrared|"
    r"far-infrared|ir|optical|ultraviolet|uv|x-ray|gamma-ray|γ-ray|radio|millimet(?:er|re)|"
    r"submillimet(?:er|re)|h ?i|hi|co|h ?ii|21[- ]?cm|hα|h-?alpha|narrow-?band|wide-?field|"
    r"deep field|deep|medium deep|ultra-?deep|legacy|public|proper motion|astrometric|variability|"
    r"polari[sz]ation|[\d.]+[- ]?(?:ghz|mhz|μm|um|micron|mm|cm|kev|tev))"
)
EARTH = (
    r"(?:field|ground|geologic(?:al)?|geophysical|geochemical|geodetic|geotechnical|gravity|"
    r"magnetic|aeromagnetic|electromagnetic|resistivity|seismic|gpr|radiometric|soil|land|land-use|"
    r"cadastral|topographic|hydrographic|hydrologic(?:al)?|bathymetric|oceanographic|marine|"
    r"underwater|coastal|aerial|airborne|uav|drone|laser|archaeologic(?:al)?|vegetation|plant|weed|"
    r"botanical|floristic|faunal|faunistic|ecologic(?:al)?|biodiversity|wildlife|bird|"
    r"breeding bird|"
    r"fish|fisheries|trawl|acoustic|plankton|zooplankton|mosquito|tick|insect|pest|disease|virus|"
    r"forest|crop|species|habitat|baseline|site|traffic|noise|radiation|radon|groundwater|"
    r"water quality|microbial|bacteriologic(?:al)?|microbiologic(?:al)?|molecular|genetic|genomic|"
    r"genome-wide|proteomic|metagenomic|phylogenetic|cytogenetic|histologic(?:al)?)"
)
NATURE = (
    r"(?:animals?|birds?|mammals|rodents|bats|fish|fishes|insects|ticks?|mites|mosquitoe?s|spiders|"
    r"beetles|ants|bees|snails|parasites?|helminths?|nematodes|worms|plants?|weeds|trees|forests|"
    r"fungi|mushrooms|lichens|algae|bacteria|viruses|pathogens|antibiotics?|antimicrobial|species|"
    r"flora|fauna|soils?|sediments?|minerals|rocks|lakes|rivers|caves|wells|dogs|cats|cattle|cows|"
    r"pigs|sheep|poultry|herds|farms|stars|dwarfs|galaxies|nebulae|quasars|pulsars|asteroids|"
    r"planets|exoplanets|comets|supernovae|clouds|diseases?|infections?|cancers?|deaths)"
)
TELESCOPES = (
    r"(?:sdss|2mass|2df|6df|chandra|xmm-newton|rosat|nustar|spitzer|herschel|hubble|hst|jwst|alma|"
    r"vla|vlt|keck|subaru|ukirt|ukidss|pan-starrs|lsst|gaia|kepler|iras|galex|arecibo|parkes|"
    r"lofar|askap|meerkat|fermi-lat)"
)
PRODUCT = (
    r"(?:peer|code|product|movie|film|book|music|game|customer|consumer|online|user|app|hotel|"
    r"restaurant|amazon|yelp|paper|manuscript|grant|ethics|ethical|judicial|law|performance|"
    r"design|chart|case|utili[sz]ation|drug utili[sz]ation|board|citizen|periodic|after-action)"
)
OF_METHODS = (
    r"(?:techniques?|methods?|methodolog(?:y|ies)|approaches|algorithms?|models?|systems?|"
    r"applications?|architectures?|frameworks?|protocols?|schemes?|solutions?|tools?|languages?|"
    r"mechanisms?|strategies|theor(?:y|ies)|literature|research|advances|developments?|progress|"
    r"trends|challenges|issues|problems|datasets?|taxonom(?:y|ies)|benchmarks?|networks?|learning|"
    r"metrics|attacks|defen[cs]es)"
)
MODEST = (
    r"(?:(?:\w{1,20}ly|comprehensive|systematic\w{0,3}|extensive|exhaustive|thorough|detailed|"
    r"in-depth|complete|broad|general|brief|short|concise|quick|mini|gentle|critical|annotated|"
    r"selective|selected|partial|informal|personal|historical|recent|current|contemporary|modern|"
    r"updated?|new|first|structured|comparative|conceptual|theoretical|technical|algorithmic|"
    r"methodological|practical|unified|unifying|integrative|interdisciplinary|multidisciplinary|"
    r"cross-disciplinary|state-of-the-art|scoping|narrative|umbrella|bibliometric|literature|"
    r"tutorial|research|classification|taxonomic|interrogative|visual|and|&|,)\s{1,3}){0,4}"
)


TITLE, ABSTRACT = "title", "abstract"


class Rule(NamedTuple):
    """One rule.

    Attributes:
        name: Name in reports.
        where: Text that is searched: `TITLE` or `ABSTRACT`.
        weight: Weight, counted once however often the pattern occurs.
        pattern: Regular expression.
        reason: Why the rule counts.
    """

    name: str
    where: str
    weight: int
    pattern: re.Pattern[str]
    reason: str


def _rule(
    name: str, where: str, weight: int, pattern: str, reason: str, cased: bool = False
) -> Rule:
    return Rule(name, where, weight, re.compile(pattern, 0 if cased else re.IGNORECASE), reason)


RULES = (
    # Titles that name a survey of people, sky or land, or methods for making one.
    _rule("asked people", TITLE, -4, rf"\b{ASKED}[- ]surveys?\b",
          "a survey that people answer"),
    _rule("health", TITLE, -4, rf"\b{HEALTH}[- ]surveys?\b",
          "counts cases or risks in a population"),
    _rule("sky", TITLE, -4, rf"(?<![\w-]){SKY}[- ]surveys?\b",
          "observations with a telescope (the paper's redshift surveys)"),
    _rule("land and life", TITLE, -4, rf"\b{EARTH}[- ]surveys?\b",
          "measurements in the field or in samples"),
    _rule("called by name", TITLE, -4,
          r"\b[Tt]he (?:[A-Z0-9][\w/'-]{0,30} (?:and |of |on |& )?){1,8}Surveys?\b",
          "the ... Survey, in capitals, is one that has a name", cased=True),
    _rule("national", TITLE, -4,
          rf"\b{NATION} (?:\w{{1,20}} )?surveys?\b|\b(?:nationwide|"
          rf"national)\b.{{0,60}}\bsurveys?\b",
          "asked in a country"),
    _rule("survey of people", TITLE, -4,
          rf"\bsurveys? (?:of|among|amongst|on|with|from|by)"
          rf" (?:[\w,.'-]{{1,25}} ){{0,4}}?{PEOPLE}\b",
          "its object is people or organisations, not papers"),
    _rule("among", TITLE, -4, r"\bsurveys? (?:among|amongst)\b", "asked among people"),
    _rule("in a country", TITLE, -4,
          rf"\bsurveys?\b.{{0,60}}\b(?:in|from|across|of|for) (?:\w{{1,15}} ){{0,3}}?{PLACE}(?!\w)",
          "tied to a place, as literature is not"),
    _rule("survey methods", TITLE, -5,
          r"\bsurveys?[- ](?:data|sampl\w{1,8}|research|methodolog\w{1,5}|design|questions?|"
          r"questionnaires?|items?|respondents?|responses?|non-?response|weight\w{0,4}|"
          r"estimat\w{1,6}|instruments?|modes?|interview\w{0,5}|experiments?|participa\w{1,6}|"
          r"coders?|coding|statistics|measure\w{0,6}|calibration|telescopes?|camera|catalogu?es?|"
          r"results?|findings|evidence|propagation|simulations?|strateg(?:y|ies)|vessels?|"
          r"based|propagator|area|samples?|response)\b",
          "on making or using surveys, or survey propagation"),
    _rule("sampling", TITLE, -4,
          r"\b(?:sampl(?:e|ing)|complex|probability|finite population|coverage|two-phase|"
          r"multi-?module|sensitive|repeated|rotating|large-scale) surveys?\b|"
          r"\b(?:imputation|nonresponse|non-response|attrition|small area|in surveys\b|"
          r"surveyors?\b|surveying users)",
          "statistics of sample surveys"),
    _rule("results of a survey", TITLE, -4,
          r"\b(?:results?|findings|evidence|insights|lessons|data|analysis|reports?|observations) "
          r"(?:\w{1,15} )?(?:of|from|in|by) (?:an?|the|our|two|three|\d{1,4})"
          r" (?:[\w-]{1,25} ){0,4}?surveys?\b",
          "reports what a survey found"),
    _rule("survey study", TITLE, -3, r"\bsurvey[- ](?:study|based|report|analysis|on practices?)\b",
          "studies by means of a survey"),
    _rule("of practice", TITLE, -3,
          r"\bsurvey (?:of|on|about) (?:the )?(?:\w{1,20} ){0,3}?(?:practices?|attitudes?|"
          r"opinions?|"
          r"perceptions?|beliefs|knowledge of|awareness|experiences?|preferences|usage|use of|"
          r"adoption|acceptance|factors affecting|prevalence|incidence|habits|needs)\b|"
          r"\bin practice\b|\badoption of\b",
          "what people do or think"),
    _rule("an experiment", TITLE, -3,
          r"\b(?:empirical|experimental|quantitative|performance|measurement|statistical|"
          r"exploratory) survey\b|\bmeasurement study\b|\b(?:performance|resource) survey\b",
          "measurements of its own"),
    _rule("found in nature", TITLE, -4,
          rf"\bsurveys? (?:of|on|for) (?:[\w,'-]{{1,25}} ){{0,3}}?{NATURE}\b",
          "its object is animals, plants, germs, rocks or stars"),
    _rule("survey for", TITLE, -3, r"\bsurveys? for\b", "a search for something"),
    _rule("instruments", TITLE, -3, rf"\b{TELESCOPES}\b", "a telescope or a mission is named"),
    _rule("state of a population", TITLE, -3,
          r"\b(?:sero-?prevalence|prevalence|incidence|epidemiology of|attitudes?|perceptions?|"
          r"knowledge (?:of|about|and attitudes?)|awareness|perceived|risk factors|quality of life|"
          r"symptoms|hesitancy|burnout|well-being|smoking|contamination|outbreaks?|patterns of)\b",
          "what people have, know or think"),
    _rule("no review of papers", TITLE, -4,
          rf"^(?!.*\bsurvey)(?:.*\b{PRODUCT} reviews?\b|.*\breview(?:s|er|ers)? (?:helpfulness|"
          rf"ratings?|spam|mining|"
          r"summari[sz]ation|sentiment|texts?|data(?:sets?)?|process|assignment|boards?|"
          r"comments?)\b)",
          "reviews of products or of manuscripts"),
    # Titles of literature surveys.
    _rule("a survey at the end", TITLE, 3,
          rf"(?:^|[:;.?!,(\[–—]|\s-{{1,3}}|\b[Aa]n?)\s{{0,3}}(?:an? |the )?{MODEST}{KIND}"
          r"(?:\s(?:paper|article|study))?\s{0,3}[)\].]?\s{0,3}$",
          "the usual end of a literature survey's title"),
    _rule("a survey of", TITLE, 3,
          rf"(?:^|[:;.?!,(–—]|\s-{{1,3}}|\b[Aa]n?)\s{{0,3}}(?:an? |the )?{MODEST}{KIND} "
          r"(?:paper |article )?(?:of|on|about|from|in|over|to)\b",
          "the usual beginning of a literature survey's title"),
    _rule("and taxonomy", TITLE, 4,
          rf"\b(?:literature|taxonomy|tutorial|classification|state[- ]of[- ]the[- ]art|reviews?)"
          rf"(?: and| &|,| of)? (?:an? )?(?:\w{{1,20}} )?{KIND}\b|\b{KIND}(?: and|,| &| of the) "
          r"(?:an? |the |its |some |\w{1,15} )?(?:literature|taxonom\w{1,3}|tutorial|outlook|"
          r"classification|categori[sz]ation|comparison|compar\w{1,6}|perspectives?|vision|roadmap|"
          r"challenges|review|overview|benchmark\w{0,3}|how-to|"
          r"(?:open |future |new |research )\w{1,15})",
          "named together with what only literature has"),
    _rule("survey paper", TITLE, 4,
          rf"\b(?:literature {KIND}|survey (?:paper|article)|state of the art)\b",
          "says that it is one"),
    _rule("of methods", TITLE, 2,
          rf"\b{KIND} (?:of|on)\b.{{0,100}}\b{OF_METHODS}\b|\b{OF_METHODS}\b.{{0,60}}[:,–—-] "
          rf"(?:an? )?{MODEST}{KIND}\b",
          "its object is methods or research"),
    # Abstracts that report data of their own.
    _rule("respondents", ABSTRACT, -4,
          r"\b(?:respondents?|response rates?|interviewe(?:es?|d)|semi-structured|likert)\b",
          "people were asked"),
    _rule("questionnaire", ABSTRACT, -3, r"\bquestionnaires?\b", "people were asked"),
    _rule("a survey was made", ABSTRACT, -3,
          r"\bsurveys? (?:\w{1,15} ){0,3}?(?:was|were|has been|had been) (?:\w{1,15}ly )?"
          r"(?:conducted|carried out|administered|distributed|sent|mailed|completed|made|"
          r"undertaken|"
          r"designed|used|performed)\b|\b(?:conducted|administered|distributed|performed|used) "
          r"(?:an?|the|two|three) (?:[\w-]{1,20} ){0,3}?survey (?:with|of \d|among|to|in \d|"
          r"during|at)\b",
          "a survey was carried out"),
    _rule("we surveyed", ABSTRACT, -4,
          r"\b(?:we|authors) (?:have )?(?:surveyed|polled|interviewed) (?!the (?:literature|"
          r"state))",
          "the authors asked"),
    _rule("counted people", ABSTRACT, -3,
          rf"\b\d[\d,. ]{{0,8}}(?!\s?(?:million|billion))(?:[\w-]{{1,20}} ){{0,3}}?{PEOPLE}\b|"
          rf"\b(?:sample of|n ?= ?\d)",
          "a number of people or organisations"),
    _rule("epidemiology", ABSTRACT, -3,
          r"\b(?:cross-sectional|prevalence|odds ratios?|95 ?% ?(?:ci|confidence)|"
          r"seropositiv\w{1,4}|"
          r"p ?[<=] ?0?\.0\d|logistic regression model|household survey|health survey)",
          "statistics of a population"),
    _rule("kind of survey", ABSTRACT, -3, rf"\b(?:{ASKED}|{HEALTH}) surveys?\b",
          "names the kind of survey"),
    _rule("survey data", ABSTRACT, -3,
          r"\bsurvey (?:data|results?|findings|weights?|sampling|questions?|instrument|"
          r"participants?|"
          r"responses?|estimates?|variables?|respond\w{1,5}|nonresponse|design)\b|\b(?:results?|"
          r"findings|outcomes?) (?:of|from) (?:an?|the|our|this) (?:[\w-]{1,20} ){0,2}?survey\b|"
          r"\b(?:finite population|small area|design-based|nonresponse|non-response|census)\b",
          "uses data of a survey"),
    _rule("astronomy", ABSTRACT, -3,
          r"\b(?:redshifts?|galax(?:y|ies)|telescopes?|square degrees|sq\. deg|deg\^?\{?2|"
          r"arcmin\w{0,4}|"
          r"arcsec\w{0,4}|photometr(?:y|ic)|kpc|mpc|magnitudes? (?:limit|of)|quasars?|"
          r"supernovae)\b",
          "observations"),
    _rule("samples", ABSTRACT, -3,
          r"\b(?:specimens?|transects?|quadrats?|blood samples|serum|soil samples|water samples|"
          r"sampling sites?|were (?:collected|captured|recorded|isolated) (?:from|in|at)|"
          r"field survey|"
          r"species richness|abundance of)\b",
          "samples were taken"),
    _rule("a method is proposed", ABSTRACT, -2,
          r"\bwe (?:\w{1,15} )?(?:propose|introduce|develop|derive) (?:an?|the|two)"
          r" (?:[\w-]{1,20} ){0,3}?"
          r"(?:method|model|estimator|algorithm|approach|procedure|system|tool|prototype)\b|"
          r"\b(?:simulation study|numerical experiments|our experimental results)\b",
          "a contribution of its own"),
    # Abstracts of literature surveys.
    _rule("we review", ABSTRACT, 3,
          r"\b(?:we|i|authors?) (?:\w{1,15} ){0,2}?(?:survey|review|overview|summari[sz]e|"
          r"categori[sz]e|classify) "
          r"(?!\d)",
          "says what a survey does"),
    _rule("this paper reviews", ABSTRACT, 3,
          r"\b(?:paper|article|work|chapter|survey|review|overview|study|"
          r"report)\b(?: \w{1,15}){0,3}? "
          r"(?:surveys|reviews|overviews|summari[sz]es|categori[sz]es|classifies|covers)\b|"
          r"\b(?:is|are) (?:\w{1,15} )?(?:reviewed|surveyed|summari[sz]ed|categori[sz]ed)\b",
          "says what a survey does"),
    _rule("this survey", ABSTRACT, 2,
          r"\b(?:this|our|the present) (?:\w{1,15} ){0,2}?(?:survey|review|overview)\b|"
          r"\b(?:survey|review) (?:paper|article)s?\b",
          "calls itself one"),
    _rule("an overview", ABSTRACT, 2,
          rf"\b(?:present|provide|give|offer|conduct|perform|make|do|is|are)(?:s|es|ing|ed)?"
          rf" (?:an?|the|first|in-depth)? ?"
          rf"(?:[\w-]{{1,20}} ){{0,3}}?{KIND}(?! (?:with|among))\b|\b(?:comprehensive|systematic|"
          rf"extensive|thorough|"
          rf"literature|critical|brief|short) {KIND}\b",
          "gives an overview"),
    _rule("the literature", ABSTRACT, 2,
          r"\b(?:state[- ]of[- ]the[- ]arts?|the literature|taxonom(?:y|ies)|recent (?:advances|"
          r"developments?|progress|research|works?)|existing (?:\w{1,20} ){0,2}?(?:approaches|"
          r"methods|"
          r"techniques|works?|literature|solutions|research|models|studies|algorithms|schemes)|"
          r"open "
          r"(?:problems|issues|challenges|questions|research)|(?:future|research) (?:\w{1,15} )?"
          r"(?:directions?|challenges|issues|trends|opportunities)|various"
          r" (?:\w{1,20} )?(?:approaches|"
          r"methods|techniques|algorithms|schemes|models))\b",
          "speaks of the literature"),
)  # fmt: skip
"""All rules; of those worth the same, the first gives the reason."""

SILENCE = 300
"""Characters of an abstract from which it would say that it is a survey's, were it one."""

FORM = 3
"""What the usual form of a title is worth; where an abstract is silent, that alone is too little:
"A survey of X" may be one of the literature on X, or of X."""
