package wire

// StatsSnapshot is the totals of the service as they are.
type StatsSnapshot struct {
	Type           string      `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string      `json:"subscriptionId" example:"s7"`
	Seq            int         `json:"seq" example:"0"`
	Data           PublicStats `json:"data"`
}

// StatsEvent is the totals of the service again.
type StatsEvent struct {
	Type           string      `json:"type" enum:"event" example:"event"`
	SubscriptionID string      `json:"subscriptionId" example:"s7"`
	Seq            int         `json:"seq" doc:"Of this process; only that it rises means something." example:"31"`
	EventID        string      `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string      `json:"event" enum:"stats.updated" example:"stats.updated"`
	OccurredAt     Time        `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           PublicStats `json:"data"`
}

// ActivitySnapshot is what was published last.
type ActivitySnapshot struct {
	Type           string       `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string       `json:"subscriptionId" example:"s8"`
	Seq            int          `json:"seq" example:"0"`
	Data           ActivityList `json:"data"`
}

// ActivityEvent is an order that was completed a while ago, as anybody may see it.
type ActivityEvent struct {
	Type           string       `json:"type" enum:"event" example:"event"`
	SubscriptionID string       `json:"subscriptionId" example:"s8"`
	Seq            int          `json:"seq" doc:"Of this process; only that it rises means something." example:"77"`
	EventID        string       `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string       `json:"event" enum:"activity.completed" example:"activity.completed"`
	OccurredAt     Time         `json:"occurredAt" doc:"The minute." example:"2026-01-01T00:05:00.000Z"`
	Data           ActivityItem `json:"data"`
}

// PointsSnapshot is what an account has.
type PointsSnapshot struct {
	Type           string        `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string        `json:"subscriptionId" example:"s9"`
	Seq            int           `json:"seq" example:"0"`
	Data           PointsAccount `json:"data"`
}

// PointsEvent is what an account has after it changed.
type PointsEvent struct {
	Type           string        `json:"type" enum:"event" example:"event"`
	SubscriptionID string        `json:"subscriptionId" example:"s9"`
	Seq            int           `json:"seq" doc:"Of this subscription." example:"1"`
	EventID        string        `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string        `json:"event" enum:"points.updated" example:"points.updated"`
	OccurredAt     Time          `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           PointsAccount `json:"data"`
}
