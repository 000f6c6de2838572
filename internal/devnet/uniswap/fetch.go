package uniswap

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// parcel is a published package, the bytes of it that were tried, and what is used of it.
type parcel struct {
	name, version, digest string
	files                 []string
}

var parcels = []parcel{
	{
		"v2-core", "1.0.1", "f01288aaf73a89d2ff541b7276cec215ce2c480cafbed33b0da9c89853f976a2",
		[]string{"build/UniswapV2Factory.json", "build/UniswapV2Pair.json"},
	},
	{
		"v2-periphery", "1.1.0-beta.0", "c3f1cda4ee1e00e877eb15ab508e574dfd6ae5e742be97fef41105d84a198784",
		[]string{"build/UniswapV2Router02.json", "build/WETH9.json"},
	},
	{
		"v3-core", "1.0.1", "141b001e2a376fff867cb24e0713b2834095cb1250c13aae263d9a646446d329",
		[]string{"artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json", "artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"},
	},
	{
		"v3-periphery", "1.4.4", "7177174c4b8c66bd1d61e7c4127ee15e95f851edfb1a65ee8225b6ab4f818bd7",
		[]string{"artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json", "artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json"},
	},
	{
		"swap-router-contracts", "1.3.1", "efad19ccb35c90338981f06ef7acc6daa5cce7a8139611167270eb7b2a1e26df",
		[]string{"artifacts/contracts/SwapRouter02.sol/SwapRouter02.json"},
	},
}

//go:embed contract/Multicall.json
var multicallFile []byte

// ErrNone: the contracts cannot be had on this machine.
var ErrNone = errors.New("the Uniswap contracts cannot be had")

// Contract is one published contract.
type Contract struct {
	ABI  abi.ABI
	Code []byte // what makes it, without what its constructor is given
}

// Kit is every contract that is used, by its name.
type Kit map[string]Contract

// Fetch reads the contracts from the user's cache, into which npm brings them when they
// are not there.
func Fetch(ctx context.Context) (Kit, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	into := filepath.Join(cache, "ferry", "uniswap")
	if err := os.MkdirAll(into, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	lock, err := os.OpenFile(filepath.Join(into, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // others may want them too
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	own, err := parse(multicallFile)
	if err != nil {
		return nil, err
	}
	kit := Kit{"Multicall": own}
	for _, p := range parcels {
		packed, err := p.bring(ctx, into)
		if err == nil {
			err = p.read(packed, kit)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: @uniswap/%s@%s: %w", ErrNone, p.name, p.version, err)
		}
	}
	return kit, nil
}

// bring finds the packed package, or has npm fetch it. Only the package itself is
// fetched: what it says that it depends on is a whole workshop, and none of it is used.
func (p parcel) bring(ctx context.Context, into string) ([]byte, error) {
	file := filepath.Join(into, "uniswap-"+p.name+"-"+p.version+".tgz")
	if packed, err := os.ReadFile(file); err == nil && p.tried(packed) {
		return packed, nil
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "npm", "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", into, "@uniswap/"+p.name+"@"+p.version)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("npm could not fetch it: %w: %s", err, strings.TrimSpace(said.String()))
	}
	packed, err := os.ReadFile(file)
	if err == nil && !p.tried(packed) {
		err = errors.New("npm fetched other bytes than those that were tried")
	}
	return packed, err
}

func (p parcel) tried(packed []byte) bool {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:]) == p.digest
}

// read adds the contracts of a packed package.
func (p parcel) read(packed []byte, kit Kit) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	want := map[string]bool{}
	for _, f := range p.files {
		want["package/"+f] = true
	}
	for files := tar.NewReader(unzipped); len(want) > 0; {
		head, err := files.Next()
		if err != nil {
			return fmt.Errorf("looking for %v: %w", want, err)
		}
		if !want[head.Name] {
			continue
		}
		delete(want, head.Name)
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(head.Name), ".json")
		if kit[name], err = parse(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func parse(text []byte) (Contract, error) {
	var f struct {
		ABI      json.RawMessage `json:"abi"`
		Bytecode string          `json:"bytecode"`
		Code     string          `json:"code"` // as our own contracts have it
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return Contract{}, err
	}
	code, err := hexutil.Decode("0x" + strings.TrimPrefix(f.Bytecode+f.Code, "0x"))
	if err != nil {
		return Contract{}, err
	}
	spoken, err := abi.JSON(bytes.NewReader(f.ABI))
	return Contract{ABI: spoken, Code: code}, err
}
