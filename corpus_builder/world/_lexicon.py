"""The vocabulary: concepts, each with four words of near meaning, and the names of people.

A topic's term joins concepts of three kinds, "adjective object process"; the four words of every
concept give the term its four wordings. No two concepts share a word stem, so that a search for one
wording finds another only where a paper says both.
"""

from __future__ import annotations

WORDINGS = 4
"""Words of each concept, hence wordings of each topic: one canonical, the others its synonyms."""

Concept = tuple[str, str, str, str]


def _concepts(table: str) -> tuple[Concept, ...]:
    rows = [line.split() for line in table.strip().splitlines()]
    return tuple((a, b, c, d) for a, b, c, d in rows)


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


OBJECTS = _concepts("""
lattice mesh grid lacework
membrane film pellicle sheath
crystal gem prism facet
filament thread fiber strand
basin hollow crater trough
ridge crest spur escarpment
channel duct conduit gutter
node knot hub junction
shell husk hull rind
droplet bead globule pellet
canopy ceiling roof dome
reef shoal sandbar atoll
lantern beacon lamp torch
spindle axle shaft rotor
ledger tally inventory roster
echo reverberation rebound ricochet
seam suture joint weld
kiln furnace oven hearth
harbor port berth dock
pebble stone boulder cobble
feather plume quill barb
corridor passage alley lane
mirror reflector speculum heliostat
spiral helix coil whorl
cavity void pocket chamber
current stream torrent tide
shadow silhouette shade umbra
fountain geyser spout jet
hinge pivot fulcrum swivel
ladder stair ramp escalator
veneer coating glaze varnish
cluster clump bunch swarm
boundary border frontier rim
pulse beat throb surge
garden orchard grove meadow
bridge viaduct causeway overpass
clock chronometer timer pendulum
compass sextant gyroscope astrolabe
bell chime gong cymbal
sail awning tarpaulin parachute
wheel disc ring hoop
cloud mist vapor haze
ember spark cinder flame
root tendril rhizome tuber
vault crypt cellar bunker
tile slab brick paver
anchor mooring tether grapnel
valve sluice faucet hatch
marsh swamp bog fen
cocoon pod capsule pouch
hammer mallet anvil gavel
needle pin spike thorn
glacier iceberg floe snowfield
""")

ADJECTIVES = _concepts("""
braided woven plaited interlaced
folded creased pleated crumpled
porous spongy perforated permeable
frozen icy frigid wintry
luminous radiant glowing incandescent
silent mute noiseless hushed
elastic stretchy springy pliant
brittle fragile crisp frail
nested enclosed encased telescoped
drifting wandering roaming straying
coarse rough grainy gritty
oblique slanted tilted skewed
dense compact thick crowded
sparse scattered thin scanty
steep vertiginous abrupt sheer
curved bowed arched bent
rotating spinning whirling gyrating
buried sunken submerged entombed
dormant sleeping inert idle
volatile fickle capricious mercurial
ancient archaic primeval antique
twin double paired dual
ragged jagged serrated notched
tinted colored pigmented dyed
salty briny saline brackish
dry arid parched desiccated
wet soaked damp moist
stiff rigid inflexible unbending
slow sluggish gradual unhurried
swift rapid fleet speedy
branching forked ramified bifurcated
floating buoyant levitating hovering
tangled snarled matted raveled
smooth polished sleek glossy
bitter acrid sour tart
gilded golden plated burnished
distant remote faraway outlying
hidden concealed covert veiled
layered stacked tiered laminated
cracked fractured fissured splintered
broad ample spacious roomy
heated scorching torrid sweltering
cyclic recurrent periodic seasonal
bristly hairy shaggy furry
""")

PROCESSES = _concepts("""
tempering annealing curing hardening
sorting sifting winnowing sieving
grafting splicing transplantation implantation
dissolution melting thawing liquefaction
accretion accumulation amassing agglomeration
erosion abrasion weathering attrition
calibration tuning adjustment trimming
navigation steering piloting wayfinding
germination sprouting budding blossoming
combustion burning ignition smoldering
filtration straining percolation seepage
migration relocation exodus resettlement
condensation precipitation coagulation curdling
fermentation leavening brewing pickling
fastening fixation clamping bolting
attenuation muffling deadening softening
amplification boosting magnification intensification
forecasting divination prophecy anticipation
harvesting gathering reaping gleaning
pruning clipping cropping paring
stitching sewing quilting embroidery
carving engraving etching chiseling
lubrication greasing oiling waxing
encryption ciphering scrambling obfuscation
compression squeezing crushing flattening
expansion swelling inflation dilation
oscillation vibration trembling quivering
diversion deflection rerouting detouring
absorption uptake imbibition engulfment
ejection expulsion eviction banishment
enumeration counting numbering census
bargaining negotiation haggling mediation
inheritance succession bequest legacy
synchronization entrainment concurrence lockstep
fragmentation shattering crumbling disintegration
adhesion sticking bonding gluing
insulation shielding screening cladding
excavation digging tunneling dredging
propulsion thrusting pushing towing
storage stockpiling hoarding warehousing
repair mending restoration patching
imitation mimicry copying emulation
taming domestication breeding husbandry
suspension hanging dangling draping
distillation refining purification rectification
corrosion rusting tarnishing oxidation
""")

FIELDS = (
    "Plexonics",
    "Tessology",
    "Lumetrics",
    "Strandics",
    "Orbology",
    "Quellonomics",
    "Vernalistics",
    "Corvametry",
    "Saltonics",
    "Meridology",
)
"""Names of sciences that do not exist."""

GIVEN_NAMES = words("""
Ada Bruno Carla Dario Elin Farid Greta Hiro Ines Jonas Kira Lior Mina Nuno Olga Pavel Quinn Rosa
Samir Tova Uma Viktor Wanda Yusuf
""")
FAMILY_NAMES = words("""
Abelar Bronwick Castellow Durnath Eskelby Farrowin Grindal Hollomar Istvarn Jurrens Kestrow
Lindmoor Marvale Nordask Ostrelle Pellgren Quarrick Rosgard Sundewell Tarnhelm Ulvarson Vintner
Westrake Yarborn
""")


def plural(noun: str) -> str:
    """Return the regular plural of an English noun.

    >>> plural("lattice"), plural("canopy"), plural("mesh"), plural("alley")
    ('lattices', 'canopies', 'meshes', 'alleys')
    """
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
