package contract

import (
	"fmt"
	"strings"
)

// aboutLive is what no table has room for.
const aboutLive = `Live updates of orders, limits, prices and of the service itself, over one WebSocket at %[1]s with the sub-protocol %[2]s. Every message is one JSON object in one text frame.

# Begin

Connect, and subscribe to channels. hello is the first message of a connection or none: it is needed only by clients that show a key and cannot send it as a header, such as browsers. No secret is ever part of the URL: a key in the query string is refused with 401 before the upgrade, and a session or a destination address is sent in subscribe only.

Every message of a client has a type and an id of its own choice; the answer repeats the id as replyTo. Messages of clients are read as strictly as bodies over HTTP: an unknown field is refused. Messages of the server may get new fields, new types and new values of enumerations at any time: ignore what you do not know. Which channel a snapshot or an event belongs to is told by its subscriptionId, which subscribed gave.

# Go on where you were

On a channel with durable numbers seq rises by the log of what is followed: for one order it is the order's own version, for a session and an integration the number in the integration's log. Keep the last seq you have worked on. After a lost connection subscribe again with after: everything behind that number is sent, and then what is new, without a gap. Without after a snapshot comes first, and events go on behind its seq.

An event is told at least once, in the order of its number: drop what is not above the last seq you have. eventId is the same for the same event wherever it is told. If what was missed can no longer be told, resync_required comes and a snapshot behind it. An event is told only after what it tells of was committed: a read over HTTP after it never shows an older state. order.confirmations alone has no number, on any channel: its seq is null, it is not sent again, and the seq you keep stays. On other channels seq counts within the subscription and nothing is sent again.

# Who may follow what

A channel that you may not follow is refused with an error message and the connection goes on. An order that does not exist and a proof that is wrong are refused alike, with order_not_found. Connections of a key that is revoked, or of an integration that is suspended, end with %[3]d within a minute.
`

// badKey is the code that the words name; the table says what it means.
const badKey = 4001

// liveInfo is the head of a live contract.
func liveInfo(info Info, live *Live) obj {
	tags := []any{}
	for _, c := range live.Channels {
		tags = append(tags, tag(c.Name))
	}
	head := obj{
		"title": info.Title, "version": info.Version, "description": info.Description + "\n\n" + words(live),
		"license": obj{"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		"tags":    tags,
	}
	if strings.HasPrefix(info.Server, "http") {
		at := strings.TrimSuffix(info.Server, "/")
		head["contact"] = obj{"name": "The operator of this service", "url": at}
		head["externalDocs"] = obj{"description": "The same for people.", "url": at + "/docs/live"}
	}
	return head
}

// words say for people what the extensions say for programs.
func words(live *Live) string {
	var b strings.Builder
	fmt.Fprintf(&b, aboutLive, "`"+live.Path+"`", "`"+live.Protocol+"`", badKey)
	b.WriteString("\n| Channel | What it tells | Who may follow it | Numbers |\n|---|---|---|---|\n")
	for _, c := range live.Channels {
		numbers := "of the subscription"
		if c.Durable {
			numbers = "durable: go on with after"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Summary, c.Access, numbers)
	}
	b.WriteString("\n# Limits\n\n| Limit | Value | |\n|---|---|---|\n")
	for _, l := range live.Limits {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", l.Name, l.Value, l.What)
	}
	b.WriteString("\n# How connections end\n\n| Code | | What happened and what to do |\n|---|---|---|\n")
	for _, c := range live.Closes {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", c.Code, c.Name, c.What)
	}
	b.WriteString("\nA refused message is answered with error, whose code is one of those that GET /v2/errors lists.\n")
	return b.String()
}

// liveTags are what can be followed, as the groups of messages that they are.
func liveTags(live *Live) obj {
	all := obj{}
	for _, c := range live.Channels {
		all[c.Name] = obj{"name": c.Name, "description": c.Summary + " For: " + c.Access}
	}
	return all
}

func channelNames(all []Channel) string {
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func channelsOf(live *Live) []any {
	all := []any{}
	for _, c := range live.Channels {
		said := func(fromClient bool) []string {
			names := []string{}
			for _, m := range live.Messages {
				if m.of(c.Name) && m.FromClient == fromClient {
					names = append(names, m.Name)
				}
			}
			return names
		}
		all = append(all, obj{
			"name": c.Name, "summary": c.Summary, "access": c.Access, "serverKey": c.ServerKey, "durable": c.Durable,
			"subscribe": said(true), "tells": said(false),
		})
	}
	return all
}

func closesOf(live *Live) []any {
	all := []any{}
	for _, c := range live.Closes {
		all = append(all, obj{"code": c.Code, "name": c.Name, "description": c.What})
	}
	return all
}

func limitsOf(live *Live) []any {
	all := []any{}
	for _, l := range live.Limits {
		all = append(all, obj{"name": l.Name, "value": l.Value, "description": l.What})
	}
	return all
}
