package report

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Completions are published in batches: those of one slot together, a while after the
// slot is over, in an order that is chance. Nobody can tell from it which order was
// completed when, or find it on a chain by its time.
const (
	activitySlot  = 5 * time.Minute
	activityDelay = 10 * time.Minute
)

// Activity is a completed order as anybody may see it. It names no order, no address and
// no transaction, and nothing in it is exact.
type Activity struct {
	ID          string // chance; the batch is sorted by it
	PublishAt   time.Time
	Give, Get   chain.Asset
	Worth       string // a range of dollars
	Took        time.Duration
	CompletedAt time.Time // the minute
}

// ActivityPlace is after an item of the list.
type ActivityPlace struct {
	At time.Time
	ID string
}

// Place is where the item stands.
func (a Activity) Place() ActivityPlace { return ActivityPlace{a.PublishAt, a.ID} }

// ActivityOf is what a change publishes of an order, without its id; false is nothing.
func ActivityOf(was order.Order, c order.Change) (Activity, bool) {
	if c.Now.State != order.Completed || was.State.Finished() {
		return Activity{}, false
	}
	return activityOf(c.Now, c.At)
}

func activityOf(o order.Order, at time.Time) (Activity, bool) {
	if o.Origin.Private {
		return Activity{}, false
	}
	return Activity{
		PublishAt: at.Truncate(activitySlot).Add(activitySlot + activityDelay), Give: o.Quote.Give, Get: o.Quote.Get, Worth: worth(o.Quote.USD),
		Took: tookAbout(at.Sub(o.CreatedAt)), CompletedAt: at.Truncate(time.Minute),
	}, true
}

// ActivityID makes the id of an item. It is chance and nothing else: made from the
// order's, it could be found again by whoever knows that.
func ActivityID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return "act_" + crockford.EncodeToString(raw[:])
}

// crockford has no letters that are mistaken for others.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// worths are where the ranges of dollars begin.
var worths = []int64{0, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000}

// worth is the range of dollars that an amount is in.
func worth(u money.USD) string {
	for i := len(worths) - 1; i > 0; i-- {
		switch low := worths[i]; {
		case u < money.USD(low)*money.Dollar:
		case i == len(worths)-1:
			return fmt.Sprintf("%d+", low)
		default:
			return fmt.Sprintf("%d-%d", low, worths[i+1])
		}
	}
	return fmt.Sprintf("%d-%d", worths[0], worths[1])
}

// tookAbout is a time as coarse as it is counted.
func tookAbout(d time.Duration) time.Duration {
	return time.Duration(tookSeconds(tookNumber(d))) * time.Second
}
