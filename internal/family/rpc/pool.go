package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"ferry/internal/family/quorum"
)

// Config names the nodes of a chain. What is left zero gets a default.
type Config struct {
	// URLs are where the nodes answer, http or https, with user and password where
	// they ask for one.
	URLs []string
	// Need is how many must say the same; it never becomes fewer by itself.
	Need int
	// Timeout bounds one question to one node.
	Timeout time.Duration
	// Grace is how much longer slow nodes are waited for when enough have answered.
	Grace time.Duration
	// MaxBody bounds an answer in bytes.
	MaxBody int64
	// Rest is how long a node is left alone that failed again and again; each time
	// after that it is twice as long.
	Rest time.Duration
	// Check refuses a node of another chain. It is asked before a node is first used
	// and each time it comes back from a rest.
	Check func(ctx context.Context, n *Node) error
}

const (
	defaultTimeout = 15 * time.Second
	defaultGrace   = 250 * time.Millisecond
	defaultMaxBody = 64 << 20
	defaultRest    = time.Second
)

// Pool is the nodes of one chain.
type Pool struct {
	rule  quorum.Rule
	nodes []*Node
	grace time.Duration
}

// New makes a pool; it asks nobody yet.
func New(c Config) (*Pool, error) {
	rule, err := quorum.New(len(c.URLs), c.Need)
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	if c.MaxBody <= 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Rest <= 0 {
		c.Rest = defaultRest
	}
	p := &Pool{rule: rule, grace: c.Grace}
	client := &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, Proxy: http.ProxyFromEnvironment},
		// A node that sends us elsewhere is not the node that was configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for i, text := range c.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("node %d: its address can not be used; write it as https://host/path", i+1)
		}
		p.nodes = append(p.nodes, &Node{name: fmt.Sprintf("node %d", i+1), url: u, client: client, timeout: c.Timeout, most: c.MaxBody, rest: c.Rest, check: c.Check})
	}
	return p, nil
}

// Rule is how many of the nodes must say the same.
func (p *Pool) Rule() quorum.Rule { return p.rule }

// Nodes are the nodes, in the order in which they were configured.
func (p *Pool) Nodes() []*Node { return p.nodes }

// ErrSlow is the answer of a node that had not answered when enough others had.
var ErrSlow = errors.New("rpc: the node is slower than the others")

// Each asks every node at once. When enough have answered without an error the rest
// are waited for only a little longer.
func Each[T any](ctx context.Context, p *Pool, ask func(ctx context.Context, n *Node) (T, error)) []quorum.Answer[T] {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type said struct {
		i int
		a quorum.Answer[T]
	}
	heard := make(chan said, len(p.nodes))
	for i, n := range p.nodes {
		go func() {
			v, err := ask(ctx, n)
			heard <- said{i, quorum.Answer[T]{Value: v, Err: err}}
		}()
	}
	answers := make([]quorum.Answer[T], len(p.nodes))
	for i := range answers {
		answers[i].Err = ErrSlow
	}
	var late <-chan time.Time
	for good, left := 0, len(p.nodes); left > 0; {
		select {
		case s := <-heard:
			answers[s.i] = s.a
			left--
			if s.a.Err == nil {
				good++
			}
			if good >= p.rule.Need() && late == nil && left > 0 {
				t := time.NewTimer(p.grace)
				defer t.Stop()
				late = t.C
			}
		case <-late:
			return answers
		}
	}
	return answers
}

// All asks every node the same question.
func All[T any](ctx context.Context, p *Pool, method string, params ...any) []quorum.Answer[T] {
	return Each(ctx, p, func(ctx context.Context, n *Node) (v T, err error) {
		err = n.Call(ctx, &v, method, params...)
		return v, err
	})
}
