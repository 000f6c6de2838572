package office_test

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/office"
)

var comparers = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
}

func TestANewIntegratorHasTheDefaults(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	at := time.Date(2026, 3, 4, 4, 6, 7, 891_234_000, time.UTC)
	want := integrator.Integrator{
		ID: i.ID, Name: "Acme Wallet", Status: integrator.Active, Version: 1, CreatedAt: at, UpdatedAt: at,
		Limits: integrator.Limits{Requests: 600, Quotes: 300, Creates: 60, OpenOrders: 200}, Window: 2 * time.Hour, AttributionDays: 30,
		Forwarding: integrator.Forwarding{Limits: integrator.ClientLimits{Requests: 60, Creates: 10, OpenOrders: 5}},
	}
	if d := cmp.Diff(want, i, comparers); d != "" {
		t.Error(d)
	}
	if kept, err := r.Show(t.Context(), i.ID); err != nil || cmp.Diff(i, kept, comparers) != "" {
		t.Errorf("kept as %+v, %v", kept, err)
	}
	if e := r.last(); e.Action != office.CreatedIntegrator || e.By != "alice" || e.Target != string(i.ID) || e.Before != "{}" || !e.At.Equal(at) ||
		!strings.Contains(e.After, `"limits.requestLimitPerMin":"600"`) {
		t.Errorf("written down as %+v", e)
	}
}

func TestIdsAreOfTheirForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^int_[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	seen := map[string]bool{}
	var first [26]map[byte]bool
	for range 2000 {
		id := office.NewID("int_")
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("%s is of another form or there twice", id)
		}
		seen[id] = true
		for n := range first {
			if first[n] == nil {
				first[n] = map[byte]bool{}
			}
			first[n][id[4+n]] = true
		}
	}
	for n, letters := range first {
		if want := map[bool]int{true: 8, false: 32}[n == 0]; len(letters) != want {
			t.Errorf("letter %d is one of %d, not of %d", n, len(letters), want)
		}
	}
}

// changes are patches with what they must make of a new integrator.
func TestAPatchChangesWhatItNamesAndNothingElse(t *testing.T) {
	t.Parallel()
	evm, btc := families[chain.EVM].Make("acme"), families[chain.Bitcoin].Make("acme")
	nets := func(texts ...string) (ps []netip.Prefix) {
		for _, text := range texts {
			ps = append(ps, netip.MustParsePrefix(text))
		}
		return ps
	}
	for _, c := range []struct {
		name   string
		patch  office.Patch
		want   func(*integrator.Integrator)
		before string
		after  string
	}{
		{
			"a name",
			office.Patch{Name: ptr("Acme 2")},
			func(i *integrator.Integrator) { i.Name = "Acme 2" }, `{"name":"Acme Wallet"}`, `{"name":"Acme 2"}`,
		},
		{
			"one limit",
			office.Patch{Limits: office.Limits{Quotes: ptr(int64(0))}},
			func(i *integrator.Integrator) { i.Limits.Quotes = 0 }, `{"limits.quoteLimitPerMin":"300"}`, `{"limits.quoteLimitPerMin":"0"}`,
		},
		{
			"all limits",
			office.Patch{Limits: office.Limits{Requests: ptr(int64(1)), Quotes: ptr(int64(2)), Creates: ptr(int64(3)), OpenOrders: ptr(int64(4))}},
			func(i *integrator.Integrator) {
				i.Limits = integrator.Limits{Requests: 1, Quotes: 2, Creates: 3, OpenOrders: 4}
			}, "", "",
		},
		{
			"window and attribution",
			office.Patch{Window: ptr(time.Hour), AttributionDays: ptr(7)},
			func(i *integrator.Integrator) { i.Window, i.AttributionDays = time.Hour, 7 },
			`{"attribution.windowDays":"30","openOrderWindowMinutes":"120"}`, `{"attribution.windowDays":"7","openOrderWindowMinutes":"60"}`,
		},
		{
			"fees, with addresses in their one form",
			office.Patch{Fees: office.Fees{Default: ptr(money.Percent(5000)), PayTo: map[chain.Family]string{
				chain.EVM: "0x" + strings.ToUpper(evm.Text()[2:]), chain.Bitcoin: strings.ToUpper(btc.Text()), chain.Solana: "",
			}}},
			func(i *integrator.Integrator) {
				i.Fees = integrator.FeePolicy{Default: 5000, PayTo: map[chain.Family]chain.Address{chain.EVM: evm, chain.Bitcoin: btc}}
			},
			`{"defaultFeePercent":"0","payoutAddresses.bitcoin":"","payoutAddresses.evm":""}`,
			fmt.Sprintf(`{"defaultFeePercent":"0.5","payoutAddresses.bitcoin":%q,"payoutAddresses.evm":%q}`, btc.Text(), evm.Text()),
		},
		{
			"servers, each once and sorted",
			office.Patch{Forwarding: office.Forwarding{
				Enabled: ptr(true), Approve: []string{"203.0.113.9", "2001:db8::/48", "203.0.113.0/29", "::ffff:203.0.113.9"},
				Limits: office.ClientLimits{Creates: ptr(int64(1))},
			}},
			func(i *integrator.Integrator) {
				i.Forwarding.Enabled, i.Forwarding.Limits.Creates = true, 1
				i.Forwarding.Egress = nets("203.0.113.0/29", "203.0.113.9/32", "2001:db8::/48")
			}, "", "",
		},
		{
			"all servers anew",
			office.Patch{Forwarding: office.Forwarding{Replace: &[]string{"203.0.113.9"}}},
			func(i *integrator.Integrator) { i.Forwarding.Egress = nets("203.0.113.9/32") },
			`{"clientIpForwarding.egress":""}`, `{"clientIpForwarding.egress":"203.0.113.9/32"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			want := r.create()
			r.now = r.now.Add(time.Minute)
			got, err := r.Change(t.Context(), want.ID, c.patch, "bob")
			if err != nil {
				t.Fatal(err)
			}
			c.want(&want)
			want.Version, want.UpdatedAt = 2, want.UpdatedAt.Add(time.Minute)
			if d := cmp.Diff(want, got, comparers); d != "" {
				t.Errorf("answered: %s", d)
			}
			if kept, err := r.Show(t.Context(), want.ID); err != nil || cmp.Diff(want, kept, comparers) != "" {
				t.Errorf("kept: %v, %s", err, cmp.Diff(want, kept, comparers))
			}
			e := r.last()
			if e.By != "bob" || e.Action != office.ChangedIntegrator || (c.after != "" && (e.Before != c.before || e.After != c.after)) {
				t.Errorf("written down as %+v", e)
			}
			if again, err := r.Change(t.Context(), want.ID, c.patch, "bob"); err != nil || again.Version != 2 || len(r.entries()) != 2 {
				t.Errorf("the same again: %+v, %v, %d entries", again, err, len(r.entries()))
			}
		})
	}
}

func TestAPatchThatIsWrongIsRefusedWhole(t *testing.T) {
	t.Parallel()
	const egress = "clientIpForwarding.egress"
	forward := func(f office.Forwarding) office.Patch { return office.Patch{Forwarding: f} }
	for _, c := range []struct {
		name, code, field string
		patch             office.Patch
	}{
		{"nothing", "missing_field", "", office.Patch{}},
		{"a bad name", "invalid_field", "name", office.Patch{Name: ptr("")}},
		{"a limit below zero", "invalid_field", "limits.createLimitPerMin", office.Patch{Limits: office.Limits{Creates: ptr(int64(-1)), Quotes: ptr(int64(5))}}},
		{"a limit without end", "invalid_field", "limits.maxOpenOrders", office.Patch{Limits: office.Limits{OpenOrders: ptr(int64(math.MaxInt64))}}},
		{"a window of seconds", "invalid_field", "openOrderWindowMinutes", office.Patch{Window: ptr(90 * time.Second)}},
		{"no attribution", "invalid_field", "attribution.windowDays", office.Patch{AttributionDays: ptr(0)}},
		{"another status", "invalid_field", "status", office.Patch{Status: ptr(integrator.Status("gone"))}},
		{"a fee above five", "invalid_field", "defaultFeePercent", office.Patch{Fees: office.Fees{Default: ptr(integrator.MaxFee + 1)}}},
		{"an address of another family", "invalid_field", "payoutAddresses.evm", office.Patch{Fees: office.Fees{PayTo: map[chain.Family]string{chain.EVM: families[chain.Bitcoin].Make("x").Text()}}}},
		{"another family", "invalid_field", "payoutAddresses.other", office.Patch{Fees: office.Fees{PayTo: map[chain.Family]string{chain.Other: ""}}}},
		{"forwarding for nobody", "invalid_field", egress, forward(office.Forwarding{Enabled: ptr(true)})},
		{"everybody", "invalid_field", egress, forward(office.Forwarding{Approve: []string{"0.0.0.0/0"}})},
		{"a name for a server", "invalid_field", egress, forward(office.Forwarding{Approve: []string{"example.com"}})},
		{"a server with a zone", "invalid_field", egress, forward(office.Forwarding{Approve: []string{"fe80::1%eth0"}})},
		{"bits beyond the mask", "invalid_field", egress, forward(office.Forwarding{Approve: []string{"203.0.113.7/24"}})},
		{"a bad one to remove", "invalid_field", egress, forward(office.Forwarding{Remove: []string{"x"}})},
		{"whole and in parts", "invalid_field", egress, forward(office.Forwarding{Replace: &[]string{}, Approve: []string{"203.0.113.7"}})},
		{"made for another version", "integrator_changed", "", office.Patch{Version: 7, Name: ptr("x")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			was := r.create()
			_, err := r.Change(t.Context(), was.ID, c.patch, "bob")
			refused(t, err, c.code, c.field)
			if kept, err := r.Show(t.Context(), was.ID); err != nil || cmp.Diff(was, kept, comparers) != "" {
				t.Errorf("it was changed: %v %s", err, cmp.Diff(was, kept, comparers))
			}
			if n := len(r.entries()); n != 1 {
				t.Errorf("%d entries", n)
			}
		})
	}
}

func TestAServerThatWouldStillBeApprovedIsNotRemovedSilently(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create().ID
	set := func(f office.Forwarding) ([]netip.Prefix, error) {
		i, err := r.SetForwarding(t.Context(), id, f, "alice")
		return i.Forwarding.Egress, err
	}
	if _, err := set(office.Forwarding{Approve: []string{"203.0.113.0/24", "203.0.113.7", "198.51.100.1"}}); err != nil {
		t.Fatal(err)
	}
	for _, still := range []string{"203.0.113.7", "203.0.113.8", "198.51.100.0/24"} {
		_, err := set(office.Forwarding{Remove: []string{still}})
		refused(t, err, "invalid_field", "clientIpForwarding.egress")
	}
	left, err := set(office.Forwarding{Remove: []string{"203.0.113.0/24", "192.0.2.1"}})
	if err != nil || !slices.Equal(left, []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32"), netip.MustParsePrefix("203.0.113.7/32")}) {
		t.Fatalf("left are %v, %v", left, err)
	}
	if _, err := set(office.Forwarding{Enabled: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	_, err = set(office.Forwarding{Remove: []string{"203.0.113.7", "198.51.100.1"}})
	refused(t, err, "invalid_field", "clientIpForwarding.egress")
	if left, err := set(office.Forwarding{Enabled: ptr(false), Replace: &[]string{}}); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestASuspendedIntegratorIsResumed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create().ID
	for _, step := range []struct {
		do     func() (integrator.Integrator, error)
		status integrator.Status
		action string
		count  int
	}{
		{func() (integrator.Integrator, error) { return r.Resume(t.Context(), id, "a") }, integrator.Active, office.CreatedIntegrator, 1},
		{func() (integrator.Integrator, error) { return r.Suspend(t.Context(), id, "b") }, integrator.Suspended, office.SuspendedIntegrator, 2},
		{func() (integrator.Integrator, error) { return r.Suspend(t.Context(), id, "c") }, integrator.Suspended, office.SuspendedIntegrator, 2},
		{func() (integrator.Integrator, error) { return r.Resume(t.Context(), id, "d") }, integrator.Active, office.ResumedIntegrator, 3},
	} {
		i, err := step.do()
		if err != nil || i.Status != step.status || r.last().Action != step.action || len(r.entries()) != step.count {
			t.Errorf("got %s, %v, then %s of %d", i.Status, err, r.last().Action, len(r.entries()))
		}
	}
}

func TestTheShortWaysChangeTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create().ID
	for name, change := range map[string]func() (integrator.Integrator, error){
		"limits": func() (integrator.Integrator, error) {
			return r.SetLimits(t.Context(), id, office.Limits{Requests: ptr(int64(9))}, "a")
		},
		"window":      func() (integrator.Integrator, error) { return r.SetWindow(t.Context(), id, time.Hour, "a") },
		"attribution": func() (integrator.Integrator, error) { return r.SetAttribution(t.Context(), id, 9, "a") },
		"fees": func() (integrator.Integrator, error) {
			return r.SetFees(t.Context(), id, office.Fees{Default: ptr(money.Percent(9))}, "a")
		},
	} {
		if _, err := change(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	i, err := r.Show(t.Context(), id)
	if err != nil || i.Version != 5 || i.Limits.Requests != 9 || i.Window != time.Hour || i.AttributionDays != 9 || i.Fees.Default != 9 {
		t.Errorf("got %+v, %v", i, err)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.Show(t.Context(), "int_none")
	refused(t, err, "integrator_not_found", "")
	_, err = r.Suspend(t.Context(), "int_none", "alice")
	refused(t, err, "integrator_not_found", "")
	_, err = r.Keys(t.Context(), "int_none")
	refused(t, err, "integrator_not_found", "")
	_, _, err = r.IssueKey(t.Context(), "int_none", office.NewKey{Kind: integrator.Server, Label: "x"}, "alice")
	refused(t, err, "integrator_not_found", "")
	_, err = r.RevokeKey(t.Context(), "key_none", "alice")
	refused(t, err, "key_not_found", "")
	err = r.ResumeChain(t.Context(), "eip155:1", "alice")
	refused(t, err, "halt_not_found", "")
	_, err = r.Show(t.Context(), integrator.ID(strings.Repeat("ü", 1000)))
	if refused(t, err, "integrator_not_found", ""); len(err.Error()) > 3000 {
		t.Errorf("an id fills the answer: %d letters", len(err.Error()))
	}
	if n := len(r.entries()); n != 0 {
		t.Errorf("%d entries of nothing", n)
	}
}

func TestNobodyIsNoOperator(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	k, _, err := r.IssueKey(t.Context(), i.ID, office.NewKey{Kind: integrator.Server, Label: "x"}, "alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"", " ", "a\nb"} {
		_, err := r.Create(t.Context(), "X", by)
		refused(t, err, "invalid_field", "operator")
		_, err = r.Suspend(t.Context(), i.ID, by)
		refused(t, err, "invalid_field", "operator")
		_, _, err = r.IssueKey(t.Context(), i.ID, office.NewKey{Kind: integrator.Server, Label: "x"}, by)
		refused(t, err, "invalid_field", "operator")
		_, err = r.RevokeKey(t.Context(), k.ID, by)
		refused(t, err, "invalid_field", "operator")
	}
	if n := len(r.entries()); n != 2 {
		t.Errorf("%d entries", n)
	}
}

func TestListsHaveBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 3 {
		r.create()
	}
	all, err := r.List(t.Context(), "", office.MaxPage)
	if err != nil || len(all) != 3 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	rest, err := r.List(t.Context(), all[0].ID, 1)
	if err != nil || len(rest) != 1 || rest[0].ID != all[1].ID {
		t.Errorf("after the first comes %v, %v", rest, err)
	}
	if log, err := r.Audit(t.Context(), 2, 5); err != nil || len(log) != 1 || log[0].Seq != 3 {
		t.Errorf("after the second entry comes %v, %v", log, err)
	}
	for _, n := range []int{0, -1, office.MaxPage + 1} {
		_, err := r.List(t.Context(), "", n)
		refused(t, err, "invalid_field", "limit")
		_, err = r.Audit(t.Context(), 0, n)
		refused(t, err, "invalid_field", "limit")
		_, err = r.Queue(t.Context(), n)
		refused(t, err, "invalid_field", "limit")
	}
}

// Two operators who change different things at the same time both have their way.
func TestRacingChangesAreAllMade(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create().ID
	change := map[string]office.Patch{
		"one": {Limits: office.Limits{Requests: ptr(int64(11))}}, "two": {Window: ptr(time.Hour)}, "three": {AttributionDays: ptr(3)},
	}
	var wg sync.WaitGroup
	for by, p := range change {
		wg.Go(func() {
			if _, err := r.Change(t.Context(), id, p, by); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	i, err := r.Show(t.Context(), id)
	if err != nil || i.Limits.Requests != 11 || i.Window != time.Hour || i.AttributionDays != 3 || i.Version != 4 {
		t.Errorf("got %+v, %v", i, err)
	}
}

func TestAChangeForAnOlderVersionIsNotMade(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	i := r.create()
	if _, err := r.Change(t.Context(), i.ID, office.Patch{Version: 1, Name: ptr("first")}, "alice"); err != nil {
		t.Fatal(err)
	}
	_, err := r.Change(t.Context(), i.ID, office.Patch{Version: 1, Name: ptr("second")}, "bob")
	refused(t, err, "integrator_changed", "")
	if !errors.Is(err, office.ErrChanged) {
		t.Errorf("the cause is lost: %v", err)
	}
}
