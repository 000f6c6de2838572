package access

import (
	"sync"
	"time"

	"ferry/internal/integrator"
)

// Sight is what was seen of a key that an operator should know.
type Sight string

// The sights.
const (
	KeyInURL           Sight = "key_in_url"            // a key was in a query, where logs keep it
	ServerKeyInBrowser Sight = "server_key_in_browser" // a server key came with an Origin
)

// Notice tells an operator of a key that is where it should not be. It has no secret.
type Notice struct {
	Sight      Sight
	Key        integrator.KeyID // empty: it has the form of a key, and is none of ours
	Integrator integrator.ID
}

// noticeEvery is how long a notice is not repeated.
const noticeEvery = time.Hour

// notices tells each notice once in a while. There are at most a few per known key.
type notices struct {
	tell func(Notice)
	mu   sync.Mutex
	told map[Notice]time.Time
}

func newNotices(tell func(Notice)) *notices {
	return &notices{tell: tell, told: map[Notice]time.Time{}}
}

func (n *notices) say(what Notice, now time.Time) {
	if n.tell != nil && n.due(what, now) {
		n.tell(what)
	}
}

func (n *notices) due(what Notice, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last, told := n.told[what]; told && now.Sub(last) < noticeEvery {
		return false
	}
	n.told[what] = now
	return true
}
