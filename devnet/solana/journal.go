package solana

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is one sealed block.
type entry struct {
	Slot uint64   `json:"s"`
	Time int64    `json:"t"`
	Hash string   `json:"h"`
	Raws [][]byte `json:"x,omitempty"`
}

// journal is what a kept chain wrote down. The virtual machine keeps nothing, but the
// same transactions in the same blocks give the same chain.
type journal struct {
	file    *os.File
	began   int64
	entries []entry // of earlier runs, until they are done again
}

// openJournal reads a folder's journal; without a folder there is none.
func openJournal(dir string) (*journal, error) {
	j := &journal{began: time.Now().Unix()}
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	good, err := j.read(f)
	if err == nil {
		err = f.Truncate(good) // a line that was cut off by a crash was never answered for
	}
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	if err == nil && good == 0 {
		_, err = fmt.Fprintf(f, "%d\n", j.began)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the journal of the chain: %w", err), f.Close())
	}
	j.file = f
	return j, nil
}

func (j *journal) read(f io.Reader) (good int64, err error) {
	r := bufio.NewReader(f)
	for first := true; ; first = false {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil
		}
		if err != nil {
			return 0, err
		}
		var into any = &j.began
		var e entry
		if !first {
			into = &e
		}
		if err := json.Unmarshal(line, into); err != nil {
			return 0, fmt.Errorf("at byte %d: %w", good, err)
		}
		if !first {
			j.entries = append(j.entries, e)
		}
		good += int64(len(line))
	}
}

func (j *journal) write(e entry) error {
	if j == nil || j.file == nil { // it lives in memory, or does again what stands there
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write down slot %d: %w", e.Slot, err)
	}
	return nil
}

func (j *journal) close() error {
	if j == nil || j.file == nil {
		return nil
	}
	return j.file.Close()
}
