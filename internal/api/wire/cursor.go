package wire

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"time"

	"ferry/internal/fault"
)

// Cursor is where a page of a list ended: the time by which the list is sorted and
// the id of its last entry. It grants nothing: whoever presents it sees only what
// the request itself may see.
type Cursor struct {
	At time.Time
	ID string
	By Sort
}

// Sort is by which time a list is sorted. A place in one list means nothing in another.
type Sort byte

// The times that lists are sorted by.
const (
	ByCreation Sort = iota
	ByUpdate
	ByPublication
	ByName // and by no time
	sorts
)

// cursorVersion lets the form change without misreading old cursors. It and the next
// ones are the version, one for each way of sorting.
const cursorVersion = 1

const maxCursorID = 128

var errCursor = fault.New(fault.Invalid, "invalid_cursor", "The cursor is not one that we gave. Begin again without it, or follow the Link header.")

// String is the opaque text of a cursor.
func (c Cursor) String() string {
	b := []byte{cursorVersion + byte(c.By)}
	b = binary.BigEndian.AppendUint64(b, uint64(c.At.UnixMicro()))
	b = append(b, c.ID...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseCursor reads what String wrote for a list sorted so, and nothing else.
func ParseCursor(text string, by Sort) (Cursor, error) {
	const fixed = 1 + 8 + 4
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < fixed || len(b) > fixed+maxCursorID || by >= sorts || b[0] != cursorVersion+byte(by) {
		return Cursor{}, errCursor
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return Cursor{}, errCursor
	}
	c := Cursor{At: time.UnixMicro(int64(binary.BigEndian.Uint64(body[1:9]))).UTC(), ID: string(body[9:]), By: by}
	if c.String() != text { // line breaks, which the decoder skips
		return Cursor{}, errCursor
	}
	return c, nil
}
