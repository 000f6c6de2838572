package live

import (
	"ferry/internal/api/contract"
	"ferry/internal/api/wire"
)

// Channels are what can be followed, in the order in which people read them.
func Channels() []contract.Channel {
	return []contract.Channel{
		{Name: "order", Summary: "The changes of one order.", Access: "Its session, or its destination address, which shows less. An order that is missing and a proof that is wrong are refused alike.", Durable: true},
		{Name: "session", Summary: "The changes of all orders of a session, those that are made later too.", Access: "Possession of the session.", Durable: true},
		{Name: "integrator_orders", Summary: "The changes of all orders of an integration, whichever of its keys they were made with.", Access: "A server key.", ServerKey: true, Durable: true},
		{Name: "integrator_usage", Summary: "What is left of an integration's limits every few seconds, a limit that is used up, and changed settings.", Access: "A server key.", ServerKey: true},
		{Name: "quote", Summary: "A price, asked for again every few seconds for a minute; each counts as a quote.", Access: "Anybody."},
		{Name: "status", Summary: "Chains that go up or down.", Access: "Anybody."},
		{Name: "activity", Summary: "Orders that were completed a while ago, without anything that leads to them.", Access: "Anybody."},
		{Name: "stats", Summary: "The totals of the service, every few seconds.", Access: "Anybody."},
		{Name: "points", Summary: "The points of an address, when they change.", Access: "Anybody."},
	}
}

// Messages are everything that is said. The contract is written from it, and tests hold
// the server to it.
func Messages() []contract.Message {
	answered := func(more ...string) []string { return append(more, "error") }
	in := func(name, channel, title string, payload any, replies []string) contract.Message {
		return contract.Message{Name: name, Title: title, Summary: title + ".", FromClient: true, Channel: channel, Payload: payload, Replies: replies}
	}
	out := func(name, channel, title string, payload any) contract.Message {
		return contract.Message{Name: name, Title: title, Summary: title + ".", Channel: channel, Payload: payload}
	}
	with := func(channel string, m contract.Message) contract.Message {
		m.Also = append(m.Also, channel)
		return m
	}
	return []contract.Message{
		in("hello", "", "Show a key and be greeted", wire.Hello{}, answered("welcome")),
		in("ping", "", "Ask for a sign of life", wire.Ping{}, answered("pong")),
		in("unsubscribe", "", "Stop following", wire.Unsubscribe{}, answered("unsubscribed")),
		in("subscribeOrder", "order", "Follow an order", wire.SubscribeOrder{}, answered("subscribed")),
		in("subscribeSession", "session", "Follow the orders of a session", wire.SubscribeSession{}, answered("subscribed")),
		in("subscribeIntegratorOrders", "integrator_orders", "Follow the orders of an integration", wire.SubscribeIntegratorOrders{}, answered("subscribed")),
		in("subscribeIntegratorUsage", "integrator_usage", "Follow the limits of an integration", wire.SubscribeIntegratorUsage{}, answered("subscribed")),
		in("subscribeQuote", "quote", "Follow a price", wire.SubscribeQuote{}, answered("subscribed")),
		in("subscribeStatus", "status", "Follow the state of the service", wire.SubscribeStatus{}, answered("subscribed")),
		in("subscribeActivity", "activity", "Follow public activity", wire.SubscribeActivity{}, answered("subscribed")),
		in("subscribeStats", "stats", "Follow the totals of the service", wire.SubscribeStats{}, answered("subscribed")),
		in("subscribePoints", "points", "Follow the points of an address", wire.SubscribePoints{}, answered("subscribed")),

		out("welcome", "", "You are known", wire.Welcome{}),
		out("pong", "", "A sign of life", wire.Pong{}),
		out("subscribed", "", "You are subscribed", wire.Subscribed{}),
		out("unsubscribed", "", "A subscription ended", wire.Unsubscribed{}),
		out("error", "", "A message was refused", wire.LiveError{}),
		out("resyncRequired", "", "What was missed cannot be told", wire.ResyncRequired{}),
		out("goodbye", "", "The server ends the connection", wire.Goodbye{}),
		out("orderSnapshot", "order", "The order as it is", wire.OrderSnapshot{}),
		out("sessionSnapshot", "session", "The session's newest orders", wire.SessionSnapshot{}),
		out("integratorSnapshot", "integrator_orders", "The orders that changed last", wire.IntegratorSnapshot{}),
		out("statusSnapshot", "status", "How everything is", wire.StatusSnapshot{}),
		out("activitySnapshot", "activity", "What was published last", wire.ActivitySnapshot{}),
		out("statsSnapshot", "stats", "The totals as they are", wire.StatsSnapshot{}),
		out("pointsSnapshot", "points", "What the address has", wire.PointsSnapshot{}),
		with("session", out("orderEvent", "order", "An order changed, for its owner", wire.OrderEvent{})),
		with("session", out("confirmationsEvent", "order", "A payment in sight is deeper than it was, for the order's owner", wire.ConfirmationsEvent{})),
		out("integratorEvent", "integrator_orders", "An order changed, for its integrator", wire.IntegratorEvent{}),
		out("usageEvent", "integrator_usage", "Limits of the integration", wire.UsageEvent{}),
		out("quoteEvent", "quote", "A new price", wire.QuoteEvent{}),
		out("statusEvent", "status", "A chain is not as it was", wire.StatusEvent{}),
		out("activityEvent", "activity", "An order was completed", wire.ActivityEvent{}),
		out("statsEvent", "stats", "The totals again", wire.StatsEvent{}),
		out("pointsEvent", "points", "The points of the address changed", wire.PointsEvent{}),
	}
}
