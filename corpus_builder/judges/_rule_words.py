"""Words that the rules of the judge `rules` look for, as parts of regular expressions."""

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
