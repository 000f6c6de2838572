package bitcoin

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
)

// The block store writes what it knows to disk every five minutes. A chain that is
// kept must not go back when its program is killed, so every block since it was opened
// is also written down here, and what the store has lost is put back from it.

func (n *Node) journalPath() string { return filepath.Join(n.folder, "journal") }
func (n *Node) waitingPath() string { return filepath.Join(n.folder, "mempool") }

// restore puts back what was lost, and opens the journal.
func (n *Node) restore() error {
	if n.passes {
		return nil
	}
	if err := n.replay(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(n.journalPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	n.journal = f
	return err
}

func (n *Node) replay() error {
	f, err := os.Open(n.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	r := bufio.NewReader(f)
	for {
		var size uint32
		if binary.Read(r, binary.BigEndian, &size) != nil || size > blockchain.MaxBlockWeight {
			return nil // what was being written when the program was killed
		}
		raw := make([]byte, size)
		if _, err := io.ReadFull(r, raw); err != nil {
			return nil
		}
		b, err := btcutil.NewBlockFromBytes(raw)
		if err != nil {
			return err
		}
		known, err := n.chain.HaveBlock(b.Hash())
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if _, _, err := n.chain.ProcessBlock(b, blockchain.BFNone); err != nil {
			return err
		}
	}
}

// note writes a block down.
func (n *Node) note(b *btcutil.Block) error {
	if n.journal == nil {
		return nil
	}
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	_, err = n.journal.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...))
	return err
}

// forget ends the journal of a chain whose store was closed in good order.
func (n *Node) forget() error {
	if n.journal == nil {
		return nil
	}
	err := errors.Join(n.journal.Close(), os.Remove(n.journalPath()))
	n.journal = nil
	return err
}

// saveWaiting keeps the mempool, as Core does when it ends in good order.
func (n *Node) saveWaiting() error {
	var lines []string
	for _, d := range n.waiting() {
		lines = append(lines, hexTx(d.Tx.MsgTx()))
	}
	return os.WriteFile(n.waitingPath(), []byte(strings.Join(lines, "\n")), 0o600)
}

func (n *Node) loadWaiting() error {
	if n.passes {
		return nil
	}
	text, err := os.ReadFile(n.waitingPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if tx, f := parseTx(strings.TrimSpace(line)); f == nil {
			_ = n.accept(tx) // what no longer fits is forgotten
		}
	}
	return err
}
