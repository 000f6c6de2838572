package config_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/limit"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/report"
	"ferry/internal/watch"
)

const example = "../../docs/ferry.example.toml"

// sound is the smallest configuration that is taken.
const sound = `
[database]
url = "sqlite:ferry.db"
[caps]
perHourUsd = "50000"
perPaymentUsd = "10000"
[[chains]]
id = "eip155:1337"
family = "evm"
kind = "sim"
assets = ["native", "usdc"]
finalDepth = 12
tiers = [{upToUsd = "1000", confirmations = 2}, {confirmations = 6}]
`

func soundConfig() config.Config {
	return config.Config{
		Database: config.Database{URL: "sqlite:ferry.db"},
		Caps:     config.Caps{PerHour: 50_000 * money.Dollar, PerPayment: 10_000 * money.Dollar, PerPairMinute: 50_000 * money.Dollar},
		Orders: config.Orders{Funding: time.Hour, Patience: order.Patience{
			Confirming: 2 * time.Hour, Executing: time.Hour, Sending: time.Hour,
			Held: 72 * time.Hour, Refunding: 6 * time.Hour, Recovery: 720 * time.Hour,
		}},
		Chains: []config.Chain{{
			ID: "eip155:1337", Family: chain.EVM, Kind: config.Sim, FinalDepth: 12,
			Assets: []chain.Asset{{Chain: "eip155:1337"}, {Chain: "eip155:1337", Ref: "usdc"}},
			Tiers:  []watch.Tier{{UpTo: 1000 * money.Dollar, Confirmations: 2}, {Confirmations: 6}},
			Slug:   "eip155-1337", Name: "eip155-1337", BlockTime: 10 * time.Second,
		}},
		API:            config.API{Listen: "127.0.0.1:8080", Room: 4096, SecretFile: "ferry.secret"},
		OperatorListen: "127.0.0.1:8081", Limits: limit.DefaultIPLimits, Wallet: config.Wallet{FeeShare: 50_000},
		Points: report.DefaultProgram,
		Treasury: config.Treasury{
			Sweep: true, Least: 5 * money.Dollar, Enough: 500 * money.Dollar, Age: 24 * time.Hour, Sources: 50, Cost: 5 * money.Whole / 100,
			AuditEvery: 10 * time.Minute, Minimums: map[chain.Asset]money.Amount{},
		},
		Webhooks: config.Webhooks{AtOnce: 256, PerEndpoint: 8}, Live: config.Live{PerAddress: 50, PerKey: 1000, Subscriptions: 100},
		Market: config.Market{
			Spread: 3000, Slippage: 5000, Tolerance: 5000, Min: 5 * money.Dollar, Max: 10_000 * money.Dollar,
			Guard: config.Guard{Quorum: 1, MinKinds: 1, MaxAge: 30 * time.Second, MaxDeviation: 2 * money.Whole / 100, MaxJump: 10},
		},
	}
}

// byValue compares what hides its fields.
var byValue = cmp.Options{cmpopts.EquateComparable(money.Amount{}, netip.Prefix{}), cmpopts.EquateEmpty()}

func TestSoundFileIsRead(t *testing.T) {
	t.Parallel()
	got, err := config.Parse([]byte(sound), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(soundConfig(), got, byValue); d != "" {
		t.Error(d)
	}
}

func TestExampleIsTakenAndMeansTheDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(example, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(soundConfig().Orders, got.Orders); d != "" {
		t.Errorf("the example shows other defaults than there are: %s", d)
	}
	for what, d := range map[string]string{
		"API": cmp.Diff(soundConfig().API, got.API, byValue), "limits": cmp.Diff(soundConfig().Limits, got.Limits),
		"webhooks": cmp.Diff(soundConfig().Webhooks, got.Webhooks), "live": cmp.Diff(soundConfig().Live, got.Live),
		"market": cmp.Diff(soundConfig().Market, got.Market), "operators": cmp.Diff(soundConfig().OperatorListen, got.OperatorListen),
	} {
		if d != "" {
			t.Errorf("the example shows other defaults of the %s than there are: %s", what, d)
		}
	}
	served := map[chain.Asset]bool{}
	for _, a := range got.Tokens {
		served[a.Asset] = true
	}
	for _, c := range got.Chains {
		for _, a := range c.Assets {
			if !served[a] {
				t.Errorf("the example does not say what %s is", a)
			}
		}
	}
	if len(got.Chains) != 3 {
		t.Errorf("got %d chains", len(got.Chains))
	}
	for _, c := range got.Chains {
		if err := watch.CheckTiers(c.Tiers); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
}

func TestExampleShowsEveryKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(example, nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(c.String()) {
		key, _, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if ok && !strings.HasPrefix(key, "{") && !strings.Contains(string(text), key+" = ") {
			t.Errorf("the example does not show %s", key)
		}
	}
}

func TestEnvironmentWins(t *testing.T) {
	t.Parallel()
	got, err := config.Parse([]byte(sound), []string{
		"FERRY_DATABASE_URL=postgres://ferry@db/ferry", "FERRY_CAPS_PER_HOUR_USD=70000.5", "FERRY_ORDERS_HELD=5h",
		"FERRY_TEST_SEED=1", "HOME=/home/somebody",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := soundConfig()
	want.Database.URL = "postgres://ferry@db/ferry"
	want.Caps.PerHour = 70_000*money.Dollar + money.Dollar/2
	want.Caps.PerPairMinute = want.Caps.PerHour // which nobody said
	want.Orders.Patience.Held = 5 * time.Hour
	if d := cmp.Diff(want, got, byValue); d != "" {
		t.Error(d)
	}
}

// refusals are changes to the sound file: the first text becomes the second, and
// the answer must name the key and say what to write.
var refusals = []struct {
	name, was, is string
	want          []string
}{
	{"no address to listen on", `[[chains]]`, "[api]\nlisten = \"8080\"\n[[chains]]", []string{"api.listen", "127.0.0.1:8080"}},
	{"operators without an address", `[[chains]]`, "[operatorApi]\nlisten = \"\"\n[[chains]]", []string{"operatorApi.listen"}},
	{"a proxy that is no network", `[[chains]]`, "[api]\ntrustedProxies = [\"10.0.0.1/8\"]\nproxyHeader = \"X-Real-IP\"\n[[chains]]", []string{"api.trustedProxies[0]", "10.0.0.0/8"}},
	{"everybody a proxy", `[[chains]]`, "[api]\ntrustedProxies = [\"0.0.0.0/0\"]\nproxyHeader = \"X-Real-IP\"\n[[chains]]", []string{"api.proxyHeader"}},
	{"a proxy without its header", `[[chains]]`, "[api]\ntrustedProxies = [\"10.0.0.0/8\"]\n[[chains]]", []string{"api.proxyHeader"}},
	{"one for all", `[[chains]]`, "[webhooks]\nmaxAtOnce = 2\nmaxPerEndpoint = 3\n[[chains]]", []string{"webhooks.maxPerEndpoint", "at most 2"}},
	{"no subscriptions", `[[chains]]`, "[live]\nsubscriptionsPerConnection = 0\n[[chains]]", []string{"live.subscriptionsPerConnection", "from 1"}},
	{"no posts", `[[chains]]`, "[webhooks]\nmaxAtOnce = 0\n[[chains]]", []string{"webhooks.maxAtOnce", "from 1"}},
	{"no room", `[[chains]]`, "[api]\nmaxRequests = 0\n[[chains]]", []string{"api.maxRequests", "from 1"}},
	{"a limit below zero", `[[chains]]`, "[limits]\nipCreates = -1\n[[chains]]", []string{"limits.ipCreates", "from 0"}},
	{"a spread of nothing", `[[chains]]`, "[market]\nspreadPercent = \"0\"\n[[chains]]", []string{"market.spreadPercent", "above 0"}},
	{"a spread as a number", `[[chains]]`, "[market]\nspreadPercent = 0.3\n[[chains]]", []string{"market.spreadPercent", "text in quotes"}},
	{"no least swap", `[[chains]]`, "[market]\nminUsd = \"0\"\n[[chains]]", []string{"market.minUsd", "above 0"}},
	{"most below least", `[[chains]]`, "[market]\nmaxUsd = \"1\"\n[[chains]]", []string{"market.maxUsd", "below minUsd"}},
	{"a source of no kind", `[[chains]]`, "[[prices]]\nname = \"a\"\nkind = \"oracle\"\n[[chains]]", []string{"prices[0].kind", "fixed"}},
	{"fixed prices of nothing", `[[chains]]`, "[[prices]]\nname = \"a\"\nkind = \"fixed\"\n[[chains]]", []string{"prices[0].values", "ETH"}},
	{"a price that is a number", `[[chains]]`, "[[prices]]\nname = \"a\"\nkind = \"fixed\"\nvalues = { ETH = 3000 }\n[[chains]]", []string{"prices[0].values.ETH", "text in quotes"}},
	{"a file of nowhere", `[[chains]]`, "[[prices]]\nname = \"a\"\nkind = \"file\"\n[[chains]]", []string{"prices[0].path"}},
	{"a token of no asset", `[[chains]]`, "[[tokens]]\nasset = \"usdc\"\nsymbol = \"USDC\"\ndecimals = 6\n[[chains]]", []string{"tokens[0].asset", "eip155:1/native"}},
	{"a token without decimals", `[[chains]]`, "[[tokens]]\nasset = \"eip155:1/native\"\nsymbol = \"ETH\"\n[[chains]]", []string{"tokens[0].decimals"}},
	{"dust of nothing", `[[chains]]`, "[[tokens]]\nasset = \"eip155:1/native\"\nsymbol = \"ETH\"\ndecimals = 18\ndust = \"0\"\n[[chains]]", []string{"tokens[0].dust"}},
	{"a minimum of nothing", `[[chains]]`, "[[tokens]]\nasset = \"eip155:1/native\"\nsymbol = \"ETH\"\ndecimals = 18\nminimum = \"0\"\n[[chains]]", []string{"tokens[0].minimum", "leave it out"}},
	{"a sweep of nothing", `[[chains]]`, "[treasury]\nsweepLeastUsd = \"0\"\n[[chains]]", []string{"treasury.sweepLeastUsd", "above 0"}},
	{"enough below least", `[[chains]]`, "[treasury]\nsweepLeastUsd = \"10\"\nsweepEnoughUsd = \"9\"\n[[chains]]", []string{"treasury.sweepEnoughUsd", "below sweepLeastUsd"}},
	{"a sweep at any price", `[[chains]]`, "[treasury]\nsweepCostPercent = \"0\"\n[[chains]]", []string{"treasury.sweepCostPercent", "above 0"}},
	{"a sweep of no addresses", `[[chains]]`, "[treasury]\nsweepAddresses = 0\n[[chains]]", []string{"treasury.sweepAddresses", "from 1"}},
	{"audits without pause", `[[chains]]`, "[treasury]\nauditEvery = \"0s\"\n[[chains]]", []string{"treasury.auditEvery"}},
	{"a sweep as a text", `[[chains]]`, "[treasury]\nsweep = \"yes\"\n[[chains]]", []string{"treasury.sweep"}},
	{"a slug of blanks", `family = "evm"`, "family = \"evm\"\nslug = \"my chain\"", []string{"chains[0].slug", "ethereum"}},
	{"blocks of no time", `family = "evm"`, "family = \"evm\"\nblockTime = \"0s\"", []string{"chains[0].blockTime"}},
	{"cap of zero", `perHourUsd = "50000"`, `perHourUsd = "0"`, []string{"caps.perHourUsd", "zero never means unlimited", `"50000"`}},
	{"cap of zero with decimals", `perHourUsd = "50000"`, `perHourUsd = "0.000000"`, []string{"caps.perHourUsd", "zero never means unlimited"}},
	{"cap missing", `perPaymentUsd = "10000"`, ``, []string{"caps.perPaymentUsd", "missing", "zero never means unlimited"}},
	{"cap below zero", `perHourUsd = "50000"`, `perHourUsd = "-1"`, []string{"caps.perHourUsd", "zero never means unlimited"}},
	{"cap as a number", `perHourUsd = "50000"`, `perHourUsd = 50000`, []string{"caps.perHourUsd", "text in quotes"}},
	{"cap as a float", `perHourUsd = "50000"`, `perHourUsd = 5e4`, []string{"caps.perHourUsd", "text in quotes"}},
	{"cap that is no number", `perHourUsd = "50000"`, `perHourUsd = "lots"`, []string{"caps.perHourUsd", `"50000"`}},
	{"cap too large to hold", `perHourUsd = "50000"`, `perHourUsd = "99999999999999999999"`, []string{"caps.perHourUsd"}},
	{"payment above the hour", `perPaymentUsd = "10000"`, `perPaymentUsd = "50000.01"`, []string{"caps.perPaymentUsd", "above perHourUsd", `"50000"`}},
	{"no caps at all", "[caps]\nperHourUsd = \"50000\"\nperPaymentUsd = \"10000\"", "", []string{"caps.perHourUsd", "caps.perPaymentUsd"}},

	{"database missing", `url = "sqlite:ferry.db"`, ``, []string{"database.url", "missing", "sqlite:ferry.db"}},
	{"database empty", `sqlite:ferry.db`, ``, []string{"database.url", "postgres://"}},
	{"database of another kind", `sqlite:ferry.db`, `mysql://root:secret@host/x`, []string{"database.url", "neither sqlite nor postgres"}},
	{"database without a file", `sqlite:ferry.db`, `sqlite:`, []string{"database.url", "names no file"}},
	{"database as a web address", `sqlite:ferry.db`, `sqlite://ferry.db`, []string{"database.url", "names no file"}},
	{"database in memory", `sqlite:ferry.db`, `sqlite::memory:`, []string{"database.url", "keeps nothing"}},
	{"database that may forget", `sqlite:ferry.db`, `sqlite:ferry.db?synchronous=off`, []string{"database.url", "synchronous=full"}},
	{"database without a host", `sqlite:ferry.db`, `postgres:///ferry`, []string{"database.url", "names no host"}},
	{"database without a name", `sqlite:ferry.db`, `postgres://host`, []string{"database.url", "names no database"}},
	{"database that is no URL", `sqlite:ferry.db`, `postgres://user:secret%zz@host/x`, []string{"database.url", "percent-encoded"}},

	{"zero confirmations", `{confirmations = 6}`, `{confirmations = 0}`, []string{"chains[0].tiers[1].confirmations", "never believed", "at least 1"}},
	{"confirmations below zero", `confirmations = 2`, `confirmations = -2`, []string{"chains[0].tiers[0].confirmations", "at least 1"}},
	{"confirmations missing", `{confirmations = 6}`, `{}`, []string{"chains[0].tiers[1].confirmations", "missing"}},
	{"confirmations as text", `{confirmations = 6}`, `{confirmations = "6"}`, []string{"chains[0].tiers[1].confirmations", "whole number"}},
	{"confirmations past reason", `{confirmations = 6}`, `{confirmations = 99999999}`, []string{"chains[0].tiers[1].confirmations", "at most"}},
	{"fewer for more", `confirmations = 2`, `confirmations = 7`, []string{"chains[0].tiers[1].confirmations", "at least 7"}},
	{"no tiers", `tiers = [{upToUsd = "1000", confirmations = 2}, {confirmations = 6}]`, ``, []string{"chains[0].tiers", "missing"}},
	{"tiers empty", `tiers = [{upToUsd = "1000", confirmations = 2}, {confirmations = 6}]`, `tiers = []`, []string{"chains[0].tiers"}},
	{"tiers of another kind", `tiers = [{upToUsd = "1000", confirmations = 2}, {confirmations = 6}]`, `tiers = [1]`, []string{"chains[0].tiers", "list of tables"}},
	{"last tier bounded", `{confirmations = 6}`, `{upToUsd = "5000", confirmations = 6}`, []string{"chains[0].tiers[1].upToUsd", "last tier must serve every value"}},
	{"tier in between unbounded", `{upToUsd = "1000", confirmations = 2}`, `{confirmations = 2}`, []string{"chains[0].tiers[0].upToUsd", "only the last"}},
	{"tier up to zero", `upToUsd = "1000"`, `upToUsd = "0"`, []string{"chains[0].tiers[0].upToUsd", "zero never means unlimited"}},
	{"tiers descending", `{confirmations = 6}`, `{upToUsd = "500", confirmations = 3}, {confirmations = 6}`, []string{"chains[0].tiers[1].upToUsd", "small to large"}},
	{"tiers equal", `{confirmations = 6}`, `{upToUsd = "1000", confirmations = 3}, {confirmations = 6}`, []string{"chains[0].tiers[1].upToUsd", "small to large"}},

	{"no assets", `assets = ["native", "usdc"]`, ``, []string{"chains[0].assets", "missing", "never means all"}},
	{"assets empty", `assets = ["native", "usdc"]`, `assets = []`, []string{"chains[0].assets", "never means all"}},
	{"a wildcard", `"usdc"`, `"*"`, []string{"chains[0].assets[1]", "not an asset"}},
	{"an asset without a name", `"usdc"`, `""`, []string{"chains[0].assets[1]"}},
	{"an asset twice", `"usdc"`, `"native"`, []string{"chains[0].assets[1]", "twice"}},
	{"assets of another kind", `assets = ["native", "usdc"]`, `assets = "native"`, []string{"chains[0].assets", "list of texts"}},

	{"no chains", sound[strings.Index(sound, "[[chains]]"):], ``, []string{"chains", "never means all"}},
	{"chains empty", sound, "chains = []\n" + sound[:strings.Index(sound, "[[chains]]")], []string{"chains: is empty", "never means all"}},
	{"a chain without a name", `id = "eip155:1337"`, ``, []string{"chains[0].id", "eip155:1"}},
	{"a chain with a bad name", `"eip155:1337"`, `"Ethereum"`, []string{"chains[0].id", "namespace:reference"}},
	{"a family nobody knows", `"evm"`, `"emv"`, []string{"chains[0].family", `"bitcoin"`}},
	{"a kind nobody knows", `"sim"`, `"node"`, []string{"chains[0].kind", `"sim"`}},
	{"final at once", `finalDepth = 12`, `finalDepth = 0`, []string{"chains[0].finalDepth", "at least 1"}},
	{"a chain twice", sound, sound + sound[strings.Index(sound, "[[chains]]"):], []string{"chains[1].id", "twice"}},

	{"patience of zero", "[caps]", "[orders]\nheld = \"0s\"\n[caps]", []string{"orders.held", "zero never means for ever", "72h"}},
	{"patience below zero", "[caps]", "[orders]\nsending = \"-1h\"\n[caps]", []string{"orders.sending", "zero never means for ever"}},
	{"patience without a unit", "[caps]", "[orders]\nfunding = \"60\"\n[caps]", []string{"orders.funding", "unit"}},
	{"patience as a number", "[caps]", "[orders]\nfunding = 60\n[caps]", []string{"orders.funding", "text in quotes"}},
	{"patience without end", "[caps]", "[orders]\nrecovery = \"99999h\"\n[caps]", []string{"orders.recovery", "longer than a year"}},

	{"a key with a typing error", `perHourUsd = "50000"`, "perHourUsd = \"50000\"\nperHuorUsd = \"1\"", []string{"caps.perHuorUsd", "did you mean caps.perHourUsd"}},
	{"a key in other case", `url =`, `URL =`, []string{"database.URL", "did you mean database.url"}},
	{"a section with a typing error", "[caps]", "[cap]", []string{"cap: ", "did you mean caps"}},
	{"a key deep inside", `{confirmations = 6}`, `{confirmation = 6}`, []string{"chains[0].tiers[1].confirmation:", "did you mean chains[0].tiers[1].confirmations"}},
	{"a path in quotes", "[database]", "\"database.url\" = \"sqlite:other.db\"\n[database]", []string{"database.url: is not a key"}},
	{"a key twice", `url = "sqlite:ferry.db"`, "url = \"sqlite:ferry.db\"\nurl = \"sqlite:other.db\"", []string{"not TOML"}},
	{"a table where text belongs", `url = "sqlite:ferry.db"`, `url = {path = "ferry.db"}`, []string{"database.url", "text in quotes"}},
	{"text where a table belongs", "[database]\nurl = \"sqlite:ferry.db\"", "database = \"sqlite:ferry.db\"", []string{"database", "a [database] table"}},
	{"no TOML", sound, "<html>", []string{"not TOML"}},
}

func TestRefusalsNameTheKeyAndWhatToWrite(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(sound, c.was) {
				t.Fatalf("the sound file has no %q", c.was)
			}
			got, err := config.Parse([]byte(strings.Replace(sound, c.was, c.is, 1)), nil)
			if !errors.Is(err, config.ErrRefused) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q tells a password", err)
			}
			if d := cmp.Diff(config.Config{}, got, byValue); d != "" {
				t.Errorf("a refused file gave values: %s", d)
			}
		})
	}
}

func TestEnvironmentIsHeldToTheSameRules(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"FERRY_CAPS_PER_HOUR_USD=0":  "caps.perHourUsd: is \"0\"; zero never means unlimited",
		"FERRY_CAPS_PER_HOUR_USD=":   "caps.perHourUsd",
		"FERRY_CAPS_PERHOUR_USD=1":   "FERRY_CAPS_PERHOUR_USD: is not a variable; did you mean FERRY_CAPS_PER_HOUR_USD?",
		"FERRY_ORDERS_HELD=0":        "orders.held",
		"FERRY_DATABASE_URL=ferry":   "database.url",
		"FERRY_CHAINS=eip155:1":      "FERRY_CHAINS",
		"FERRY_DATABASE_PASSWORD=ab": "FERRY_DATABASE_PASSWORD: is not a variable",
	} {
		if _, err := config.Parse([]byte(sound), []string{variable}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", variable, err, want)
		}
	}
}

func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Parse([]byte("[caps]\nperHourUsd = \"0\"\n[orders]\nheld = \"0s\"\n"), nil)
	for _, want := range []string{"caps.perHourUsd", "caps.perPaymentUsd", "orders.held", "database.url", "chains"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %s", err, want)
		}
	}
}

func TestMissingFileSaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := config.Load(filepath.Join(t.TempDir(), "none.toml"), nil)
	if !errors.Is(err, config.ErrRefused) || !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsShownHoldsNoSecretAndReadsBack(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"sqlite:ferry.db": "sqlite:ferry.db",
		"postgres://ferry:hunter2@db:5432/ferry?sslmode=require":           "postgres://ferry:hidden@db:5432/ferry?sslmode=require",
		"postgres://ferry@db/ferry?password=hunter2&sslpassword=hunter2":   "postgres://ferry@db/ferry?password=hidden&sslpassword=hidden",
		"postgresql://ferry:hunter2@/ferry?host=/run/postgresql&port=5432": "postgresql://ferry:hidden@/ferry?host=%2Frun%2Fpostgresql&port=5432",
	} {
		c, err := config.Parse([]byte(strings.Replace(sound, "sqlite:ferry.db", url, 1)), nil)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := c.Database.Redacted(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if strings.Contains(c.String(), "hunter2") {
			t.Errorf("the effective values tell a password:\n%s", c)
		}
		back, err := config.Parse([]byte(c.String()), nil)
		if err != nil {
			t.Errorf("what is shown is refused: %v\n%s", err, c)
			continue
		}
		c.Database.URL = want
		if d := cmp.Diff(c, back, byValue); d != "" {
			t.Error(d)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sound, "FERRY_ORDERS_HELD=1h")
	text, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), "")
	for _, c := range refusals {
		f.Add(strings.Replace(sound, c.was, c.is, 1), "FERRY_CAPS_PER_HOUR_USD=1")
	}
	f.Fuzz(func(t *testing.T, text, variable string) {
		c, err := config.Parse([]byte(text), []string{variable})
		if err != nil {
			if !errors.Is(err, config.ErrRefused) {
				t.Fatalf("a refusal of another kind: %v", err)
			}
			return
		}
		mustBeSafe(t, c)
		back, err := config.Parse([]byte(c.String()), nil)
		if err != nil {
			t.Fatalf("what is shown is refused: %v\n%s", err, c)
		}
		back.Database, c.Database = config.Database{}, config.Database{}
		for _, prices := range [][]config.Source{c.Prices, back.Prices} {
			for i := range prices {
				prices[i].URL = "" // it may hold a key and is not shown
			}
		}
		if d := cmp.Diff(c, back, byValue); d != "" {
			t.Fatal(d)
		}
	})
}

// mustBeSafe holds a configuration that was taken to what no refusal may miss.
func mustBeSafe(t *testing.T, c config.Config) {
	t.Helper()
	if c.Caps.PerHour <= 0 || c.Caps.PerPayment <= 0 || c.Caps.PerPayment > c.Caps.PerHour {
		t.Errorf("caps %v", c.Caps)
	}
	p := c.Orders.Patience
	for _, d := range []time.Duration{c.Orders.Funding, p.Confirming, p.Executing, p.Sending, p.Held, p.Refunding, p.Recovery} {
		if d <= 0 {
			t.Errorf("patience %v", c.Orders)
		}
	}
	if len(c.Chains) == 0 {
		t.Error("no chains")
	}
	for _, ch := range c.Chains {
		if ch.ID == "" || len(ch.Assets) == 0 || ch.FinalDepth == 0 || ch.Kind != config.Sim {
			t.Errorf("chain %v", ch)
		}
		if err := watch.CheckTiers(ch.Tiers); err != nil {
			t.Errorf("chain %s: %v", ch.ID, err)
		}
	}
}
