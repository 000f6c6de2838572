package archtest

import (
	"slices"
	"strings"
)

// Floors, as short words for the plan below.
const (
	words  = "money chain fault secret"
	domain = "integrator ledger quote order"
	work   = "watch send settle feed access limit market desk office report treasury hooks"
	below  = words + " " + domain + " " + work
	// doors are the adapters; only the assembly sees them.
	doors = "store family/quorum family/rpc family/sim family/evm family/bitcoin family/solana signer prices venue/cctp venue/contract venue/kyber venue/opbridge venue/uniswap venue/uniswap/amm venue/uniswap/route hooks/post api api/wire api/contract api/routes api/operator api/socket api/live"
	// helpers exist for tests and never reach the daemon.
	helpers = "store/storetest store/pgtest family/familytest devnet/devnettest signer/signertest api/contract/contracttest dev/devtest venue/uniswap/ammtest"
	// chance is for the tests of every room, and for no room but a suite of tests.
	chance = "testseed"
	chains = "money chain fault order watch send family/quorum family/rpc"
)

// plan is the house: a room may import only the rooms named beside it.
var plan = map[string]string{
	// floor 0: words
	"money":  "",
	"fault":  "",
	"secret": "",
	"chain":  "money",
	// floor 1: domain, pure
	"integrator": "money chain secret",
	"ledger":     "money chain integrator",
	"quote":      "money chain integrator",
	"order":      "money chain integrator ledger quote",
	// floor 2: work
	"watch":  "money chain order",
	"send":   "money chain",
	"settle": "money chain order send ledger quote fault",
	"feed":   "integrator order",
	"access": "fault secret integrator chain order",
	"limit":  "fault integrator access",
	"market": "money chain fault integrator quote",
	"desk":   "money chain fault secret integrator quote order access limit market settle",
	"hooks":  "fault secret integrator order feed",
	"office": "money chain fault secret integrator order treasury hooks", // order for what an operator is asked about
	"report": "money chain fault integrator quote order access",
	// treasury keeps the wallets: deposit addresses, bringing deposits home, what is left.
	"treasury": "money chain fault order ledger send",
	// floor 3: adapters, which know the rooms below them and not one another
	"store":             below,
	"store/storetest":   below + " store " + chance,
	"store/pgtest":      "",
	"family/quorum":     "",
	"family/sim":        chains,
	"family/familytest": chains,
	"family/rpc":        "family/quorum",
	"family/evm":        chains,
	"family/bitcoin":    chains,
	"family/solana":     chains,
	// signer knows wishes, and nothing of how families make transactions: it reads them again.
	"signer":            words + " send",
	"signer/signertest": words + " send signer",
	// devnet starts the local chains; only development and tests reach it.
	"devnet":            "",
	"devnet/devnettest": "devnet",
	"devnet/uniswap":    "family/rpc",
	"devnet/cctp":       "",
	"prices":            words + " market",
	// venues plan and judge; they know neither keys nor orders.
	"venue/contract": "chain",
	"venue/opbridge": words + " quote market venue/contract",
	"venue/cctp":     words + " quote market venue/contract",
	"venue/kyber":    words + " quote market venue/contract",
	"hooks/post":     words + " hooks",
	"api":            below + " api/wire api/contract",
	"api/wire":       below,
	"api/contract":   below + " api/wire",
	"api/routes":     below + " api api/wire",
	"api/operator":   below + " api/wire",
	"api/live":       below + " api api/contract api/socket api/wire",
	"venue/uniswap":  words + " quote market venue/contract venue/uniswap/amm venue/uniswap/route",
	// amm and route are numbers alone.
	"venue/uniswap/amm":     "",
	"venue/uniswap/route":   "venue/uniswap/amm",
	"venue/uniswap/ammtest": "venue/uniswap/amm venue/uniswap/route devnet/uniswap",
	// socket carries texts and knows nothing of what they are about.
	"api/socket": "fault",
	// contracttest reads the document as a stranger would: it knows none of our rooms.
	"api/contract/contracttest": "",
	// floor 4: assembly
	"config": below,
	"daemon": below + " " + doors,
	"front":  below + " " + doors + " daemon",
	// tail is outside of the service, and asks it as anybody would.
	"tail": "money fault secret order api/wire api/operator api/socket",
	// nodes makes chains of real nodes ready for the service.
	"nodes":       below + " " + doors + " daemon front",
	"serve":       below + " " + doors + " config daemon front nodes",
	"dev":         below + " " + doors + " daemon front devnet devnet/uniswap devnet/cctp nodes",
	"dev/devtest": "dev",
	"archtest":    "",
	"testseed":    "",
	"house":       below + " " + doors + " " + helpers + " config daemon",
	"world":       below + " " + doors + " " + helpers + " config daemon house",
	"bench":       below + " " + doors + " " + helpers + " config daemon house world front dev devnet devnet/uniswap",
	"cmd/ferry":   below + " " + doors + " config daemon world front dev serve devnet tail",
}

// inTests is what the tests of a room may import beyond the plan: floor 2 is
// tested with a real store and simulated chains, an adapter with its suite.
var inTests = map[string]string{
	"watch":               doors + " " + helpers + " house",
	"send":                doors + " " + helpers + " house",
	"settle":              doors + " " + helpers + " house",
	"feed":                doors + " " + helpers + " house",
	"hooks":               doors + " " + helpers + " house chain office",
	"office":              doors + " " + helpers,
	"prices":              "family/evm family/rpc devnet devnet/devnettest devnet/uniswap signer",
	"api/operator":        "store store/pgtest",
	"store":               "store/storetest store/pgtest",
	"store/storetest":     "store/pgtest",
	"family/sim":          "family/familytest",
	"family/evm":          "family/familytest devnet devnet/devnettest signer signer/signertest",
	"family/bitcoin":      "family/familytest devnet devnet/devnettest signer signer/signertest",
	"family/solana":       "family/familytest devnet devnet/devnettest signer signer/signertest",
	"devnet/uniswap":      "devnet devnet/devnettest",
	"venue/cctp":          "devnet devnet/devnettest devnet/cctp family/evm family/rpc",
	"venue/uniswap":       "devnet devnet/devnettest devnet/uniswap",
	"venue/kyber":         "devnet devnet/devnettest family/evm family/rpc signer send",
	"venue/uniswap/amm":   "venue/uniswap/ammtest",
	"venue/uniswap/route": "venue/uniswap/ammtest",
	"devnet/cctp":         "devnet devnet/devnettest",
	"venue/opbridge":      "family/evm family/rpc devnet devnet/devnettest",
	"treasury":            doors + " " + helpers + " house watch",
	"signer":              "store store/storetest family/sim family/evm family/bitcoin family/solana",
	"family/familytest":   "family/sim",
	"api":                 "api/contract/contracttest api/socket",
	"api/contract":        "api/contract/contracttest",
	"api/live":            "api/contract/contracttest",
	"daemon":              helpers + " house",
	"dev":                 helpers + " tail",
	"house":               "world",
	"front":               "dev store/pgtest api/contract/contracttest",
	"tail":                "dev dev/devtest front integrator office",
	"serve":               "devnet devnet/devnettest devnet/cctp devnet/uniswap",
	"cmd/ferry":           helpers,
}

// reach is one thing outside the house that only some rooms may touch. A room
// covers the rooms below it: "family" is family/sim too.
type reach struct{ path, rooms, instead string }

// outside is who may import what from the standard library and from others.
var outside = []reach{
	{"net/http", "api hooks/post prices venue family front dev devnet signer tail cmd bench", "declare a port in ports.go and let an adapter fill it"},
	{"database/sql", "store bench", "declare what you need in ports.go and let store fill it"},
	{"github.com/jackc/pgx/v5", "store bench", "go through store"},
	{"modernc.org/sqlite", "store bench", "go through store"},
	{"github.com/pressly/goose/v3", "store", "go through store"},
	{"flag", "config cmd bench", "take the value as an argument; only config and cmd read flags"},
	{"github.com/alecthomas/kong", "cmd", "take the value as an argument; only cmd reads flags"},
	{"github.com/knadh/koanf/v2", "config", "take the value as an argument; only config reads files"},
}

// call is a function that only some rooms may call.
type call struct{ pkg, names, forbidden, allowed, instead string }

// calls is who may ask the machine. Empty allowed means: everybody but the forbidden.
var calls = []call{
	{
		pkg: "time", names: "Now Since Until After AfterFunc Tick NewTimer NewTicker Sleep",
		forbidden: words + " " + domain, instead: "take now as a parameter",
	},
	{
		pkg: "os", names: "Getenv LookupEnv Environ ExpandEnv",
		allowed: "config cmd " + helpers + " " + chance + " bench", instead: "only config and cmd read the environment",
	},
}

// maxLines is how long a file may be; tests and generated files may be longer.
const maxLines = 400

// covers reports whether room is one of the space-separated rooms, or inside one.
func covers(rooms, room string) bool {
	return slices.ContainsFunc(strings.Fields(rooms), func(r string) bool {
		return room == r || strings.HasPrefix(room, r+"/")
	})
}

func named(rooms, room string) bool { return slices.Contains(strings.Fields(rooms), room) }
