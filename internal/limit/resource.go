package limit

// Resource is one kind of limit; its name is what X-RateLimit-Resource says.
type Resource uint8

// The resources. The zero value is none of them.
const (
	CompanyRequests Resource = iota + 1
	KeyRequests
	ClientRequests
	CompanyCreates
	ClientCreates
	CompanyQuotes
	CompanyOpenOrders
	ClientOpenOrders
	IPRequests
	IPCreates
	IPQuotes
	IPOpenOrders
	IPAccessFailures
	OrderRecheck
	WSConnections
	WSSubscriptions
	WSMessages

	lastResource = WSMessages
)

var resourceNames = [lastResource + 1]string{
	CompanyRequests:   "company_requests",
	KeyRequests:       "key_requests",
	ClientRequests:    "client_requests",
	CompanyCreates:    "company_creates",
	ClientCreates:     "client_creates",
	CompanyQuotes:     "company_quotes",
	CompanyOpenOrders: "company_open_orders",
	ClientOpenOrders:  "client_open_orders",
	IPRequests:        "ip_requests",
	IPCreates:         "ip_creates",
	IPQuotes:          "ip_quotes",
	IPOpenOrders:      "ip_open_orders",
	IPAccessFailures:  "ip_access_failures",
	OrderRecheck:      "order_recheck",
	WSConnections:     "ws_connections",
	WSSubscriptions:   "ws_subscriptions",
	WSMessages:        "ws_messages",
}

// String is the name that callers see.
func (r Resource) String() string {
	if r == 0 || r > lastResource {
		return "unknown"
	}
	return resourceNames[r]
}

// ResourceNamed is the resource of a name, or none.
func ResourceNamed(name string) Resource {
	for r, n := range resourceNames {
		if n == name && n != "" {
			return Resource(r)
		}
	}
	return 0
}

// Resources are all of them, in the order of the contract.
func Resources() []Resource {
	all := make([]Resource, 0, lastResource)
	for r := CompanyRequests; r <= lastResource; r++ {
		all = append(all, r)
	}
	return all
}
