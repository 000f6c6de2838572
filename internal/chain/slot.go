package chain

import (
	"strconv"
	"strings"
)

// Slot is what an attempt uses up on its chain: an account nonce or a coin.
type Slot string

// NonceSlot is the slot of an account's nonce, where a chain counts transactions.
func NonceSlot(from Account, n uint64) Slot {
	return Slot("nonce:" + string(from) + ":" + strconv.FormatUint(n, 10))
}

// Nonce is the number in a slot of an account's nonce; not ok if it is another slot.
func (s Slot) Nonce(from Account) (n uint64, ok bool) {
	text, ok := strings.CutPrefix(string(s), "nonce:"+string(from)+":")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}
