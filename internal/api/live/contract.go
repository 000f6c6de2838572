package live

import (
	"time"

	"ferry/internal/api/contract"
	"ferry/internal/api/socket"
)

// Contract is what this room says, for the published description of it.
func (l *Live) Contract() contract.Live {
	return contract.Live{
		Path: path, Protocol: socket.Protocol,
		Channels: Channels(), Messages: Messages(), Closes: Closes(), Limits: l.limits(),
	}
}

// Closes are the codes with which connections end, in the order in which people read them.
func Closes() []contract.Close {
	return []contract.Close{
		{Code: socket.Normal, Name: "normal", What: "You closed the connection, and the server agrees."},
		{Code: socket.Malformed, Name: "malformed", What: "What came is no WebSocket frame, or not one that may come then. Mend the client."},
		{Code: socket.NoText, Name: "no text", What: "Binary data came. Send texts."},
		{Code: socket.NotUTF8, Name: "not UTF-8", What: "A text is not UTF-8. Mend the client."},
		{Code: socket.TooLarge, Name: "too large", What: "A message is larger than messageBytes. Send smaller ones."},
		{Code: socket.Failed, Name: "failed", What: "Something went wrong on our side. Connect again, later each time, and go on with after."},
		{Code: socket.Restart, Name: "restart", What: "The server restarts; goodbye came before. Connect again after its reconnectAfterMs and go on with after."},
		{Code: closeLater, Name: "try later", What: "It cannot be said now whether the key is good. Connect again in some seconds and go on with after."},
		{Code: closeProtocol, Name: "protocol", What: "What came is no message: no JSON object, or one without a type. The error before it says why. Mend the client."},
		{Code: closeBadKey, Name: "bad key", What: "The key is unknown, was revoked, or its integration is suspended. The error before it says which. Do not connect with it again."},
		{Code: 4003, Name: "forbidden", What: "Kept for connections that may not be. A channel that may not be followed does not end the connection: it is refused with an error."},
		{Code: socket.Slow, Name: "slow consumer", What: "You did not take what was sent. resync_required came before, with the last seq that was sent for each subscription. Connect again, go on with after, and read faster or follow less."},
		{Code: socket.Idle, Name: "idle", What: "Nothing came from you for idleSeconds, not even the answer to a ping, or a message stopped in its middle. Connect again and go on with after."},
		{Code: socket.Flooded, Name: "limit", What: "More messages came than messagesPerMinute. The error before it has retryAfterSeconds: connect again after that."},
	}
}

// limits bound a connection.
func (l *Live) limits() []contract.Limit {
	c, s := &l.cfg, l.cfg.Socket.Filled()
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	all := []contract.Limit{
		{Name: "subscriptions", Value: c.Subscriptions, What: "Subscriptions of one connection."},
		{Name: "quoteSubscriptions", Value: c.Quotes, What: "Subscriptions to prices among them."},
		{Name: "messagesPerMinute", Value: s.FramesPerMinute, What: "Frames that a client may send in a minute, answers to pings among them."},
		{Name: "messageBytes", Value: s.MaxMessage, What: "Size of a message of a client."},
		{Name: "queueBytes", Value: s.MaxQueue, What: "What may wait for a client that does not read."},
		{Name: "heartbeatSeconds", Value: seconds(s.PingEvery), What: "How often the server pings."},
		{Name: "idleSeconds", Value: seconds(s.IdleAfter), What: "How long a client may give no sign of life."},
		{Name: "quoteSeconds", Value: seconds(c.QuoteFor), What: "How long a price is followed before its subscription expires."},
	}
	for _, one := range []contract.Limit{
		{Name: "connectionsPerAddress", Value: c.PerAddress, What: "Connections of one address that shows no server key."},
		{Name: "connectionsPerServerKey", Value: c.PerKey, What: "Connections of one server key that is shown with the upgrade."},
	} {
		if one.Value >= 0 { // below is no limit
			all = append(all, one)
		}
	}
	return all
}
