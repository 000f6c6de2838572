package signer

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
)

// maxInner is how deep calls may hold calls: a list of calls holds no further lists.
const maxInner = 1

// methodABI is a method of a contract that may be called, ready to read calls by.
type methodABI struct {
	chain.Method
	id   [4]byte
	args abi.Arguments
}

// contracts are what may be called on a chain.
type contracts map[chain.Address][]methodABI

// readContracts makes a list of contracts ready, and refuses one that cannot be read:
// a method that is never allowed would stop orders halfway.
func readContracts(list []chain.Contract) (contracts, error) {
	all := contracts{}
	for _, c := range list {
		for _, m := range c.Methods {
			read, err := readMethod(m)
			if err != nil {
				return nil, fmt.Errorf("signer: contract %s: %s: %w", c.Address.Text(), m.Signature, err)
			}
			all[c.Address] = append(all[c.Address], read)
		}
	}
	return all, nil
}

func readMethod(m chain.Method) (methodABI, error) {
	if !strings.Contains(m.Signature, "(") || !strings.HasSuffix(m.Signature, ")") { // the reader below panics on it
		return methodABI{}, errors.New("it is no signature of a method")
	}
	sel, err := abi.ParseSelector(m.Signature)
	if err != nil {
		return methodABI{}, err
	}
	out := methodABI{Method: m}
	for _, in := range sel.Inputs {
		t, err := abi.NewType(in.Type, in.InternalType, in.Components)
		if err != nil {
			return methodABI{}, err
		}
		out.args = append(out.args, abi.Argument{Name: in.Name, Type: t})
	}
	made := abi.NewMethod(sel.Name, sel.Name, abi.Function, "", false, false, out.args, nil)
	copy(out.id[:], made.ID)
	return out, out.check()
}

// check refuses places that are not there, or hold something else.
func (m *methodABI) check() error {
	type want struct {
		place string
		kinds []string
	}
	address, number := []string{"address", "bytes32"}, []string{"uint32", "uint64"}
	var wants []want
	for _, p := range m.Own {
		wants = append(wants, want{p, address})
	}
	for p := range m.Only {
		wants = append(wants, want{p, address})
	}
	for p := range m.Few {
		wants = append(wants, want{p, number})
	}
	if m.Amount != "" {
		wants = append(wants, want{m.Amount, []string{"uint256"}})
	}
	if m.Inner != "" {
		wants = append(wants, want{m.Inner, []string{"bytes[]"}})
	}
	for _, w := range wants {
		if t := m.at(w.place); t == nil || !slices.Contains(w.kinds, t.String()) {
			return fmt.Errorf("there is no %s at %q", w.kinds[0], w.place)
		}
	}
	return nil
}

// at is the type of the argument at a place.
func (m *methodABI) at(place string) *abi.Type {
	var t *abi.Type
	for i, part := range strings.Split(place, ".") {
		n, err := strconv.Atoi(part)
		switch {
		case err != nil || n < 0:
			return nil
		case i == 0 && n < len(m.args):
			t = &m.args[n].Type
		case i > 0 && t.T == abi.TupleTy && n < len(t.TupleElems):
			t = t.TupleElems[n]
		default:
			return nil
		}
	}
	return t
}

// value is the argument at a place that check found.
func value(values []any, place string) any {
	parts := strings.Split(place, ".")
	first, _ := strconv.Atoi(parts[0])
	v := reflect.ValueOf(values[first])
	for _, part := range parts[1:] {
		n, _ := strconv.Atoi(part)
		v = v.Field(n)
	}
	return v.Interface()
}

// judgeCall holds a call of a contract to the wish, byte for byte, and to the list.
func (s *evmShelf) judgeCall(m matter, tx *types.Transaction) error {
	call := m.wish.Call
	pays := new(big.Int)
	if call.Asset.IsNative() {
		pays, _ = new(big.Int).SetString(call.Amount.String(), 10)
	}
	switch {
	case evmAddress(*tx.To()) != call.To:
		return refuse(Recipient, "it calls %s and not %s", evmAddress(*tx.To()).Text(), call.To.Text())
	case !bytes.Equal(tx.Data(), call.Data):
		return refuse(Method, "it is another call than was wished")
	case tx.Value().Cmp(pays) != 0:
		return refuse(Amount, "it sends %s along and not %s", tx.Value(), pays)
	}
	methods, ok := m.contracts[call.To]
	if !ok {
		return refuse(Recipient, "the contract %s is not on the list of those that may be called", call.To.Text())
	}
	j := callJudge{m: m, methods: methods, sum: new(big.Int)}
	if err := j.call(call.Data, 0); err != nil {
		return err
	}
	if j.counts && !call.Asset.IsNative() && j.sum.String() != call.Amount.String() {
		return refuse(Amount, "its calls take %s and not %s", j.sum, call.Amount)
	}
	return nil
}

// callJudge reads a call with the calls in it.
type callJudge struct {
	m       matter
	methods []methodABI
	sum     *big.Int
	counts  bool // whether any of the methods says what it takes
}

func (j *callJudge) call(data []byte, depth int) error {
	if len(data) < 4 {
		return refuse(Method, "it calls no method")
	}
	i := slices.IndexFunc(j.methods, func(m methodABI) bool { return bytes.Equal(m.id[:], data[:4]) })
	if i < 0 {
		return refuse(Method, "the method %x of %s may not be called", data[:4], j.m.wish.Call.To.Text())
	}
	m := j.methods[i]
	values, err := m.args.Unpack(data[4:])
	if err != nil {
		return refuse(Unreadable, "%s cannot be read: %v", m.Signature, err)
	}
	again, err := m.args.Pack(values...)
	if err != nil || !bytes.Equal(again, data[4:]) {
		return refuse(Unreadable, "%s is not in its only encoding", m.Signature)
	}
	if err := j.names(&m, values); err != nil {
		return err
	}
	if m.Amount != "" {
		j.counts = true
		j.sum.Add(j.sum, value(values, m.Amount).(*big.Int))
	}
	if m.Inner == "" {
		return nil
	}
	if depth >= maxInner {
		return refuse(Method, "%s holds calls that hold calls", m.Signature)
	}
	for _, inner := range value(values, m.Inner).([][]byte) {
		if err := j.call(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// names holds what a call names to the list.
func (j *callJudge) names(m *methodABI, values []any) error {
	for _, place := range m.Own {
		if to, ok := addressAt(values, place); !ok || to != j.m.hot && !slices.Contains(m.Also, to) {
			return refuse(Recipient, "%s would give to %s and not to our own account", m.Signature, to.Text())
		}
	}
	for place, few := range m.Only {
		if to, ok := addressAt(values, place); !ok || !slices.Contains(few, to) {
			return refuse(Recipient, "%s names %s, which is not on its list", m.Signature, to.Text())
		}
	}
	for place, few := range m.Few {
		if n := reflect.ValueOf(value(values, place)).Uint(); !slices.Contains(few, n) {
			return refuse(Method, "%s says %d, which is not on its list", m.Signature, n)
		}
	}
	return nil
}

// addressAt is the address at a place; not ok where 32 bytes hold more than one.
func addressAt(values []any, place string) (chain.Address, bool) {
	switch v := value(values, place).(type) {
	case common.Address:
		return evmAddress(v), true
	case [32]byte:
		a := common.BytesToAddress(v[:])
		return evmAddress(a), common.BytesToHash(a[:]) == v
	}
	return chain.Address{}, false
}
