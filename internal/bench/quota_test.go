package main

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"ferry/internal/testseed"
)

// TestTheScriptInRedisKeepsOurRule: a peer that kept an easier one would be no peer. Its
// clock is given to it, so that minutes go by in no time; what Redis forgets by itself is
// forgotten by hand.
func TestTheScriptInRedisKeepsOurRule(t *testing.T) {
	t.Parallel()
	path, err := program("redis-server")
	if err != nil {
		t.Fatalf("%v; make setup installs it", err)
	}
	const most = 20
	script := limitsLua
	for old, with := range map[string]string{
		"redis.call('TIME')[1]": "ARGV[1]", "1000000000": strconv.Itoa(most), "redis.call('EXPIRE', key, 61)": "redis.call('HSET', key, 'gone', s + 61)",
	} {
		if !strings.Contains(script, old) {
			t.Fatalf("the script has no %s", old)
		}
		script = strings.ReplaceAll(script, old, with)
	}
	ask := redisFor(t, path)
	sha := ask("SCRIPT", "LOAD", script)
	r := testseed.Rand(t)
	refused := 0
	for h := range 10 {
		keys := make([]string, 5)
		for i := range keys {
			keys[i] = fmt.Sprint("h", h, "-", i)
		}
		now, taken := 1000.0, []float64{}
		within := func(seconds float64) (n int) {
			for _, at := range taken {
				if at > now-seconds {
					n++
				}
			}
			return n
		}
		for range 300 {
			if now += r.Float64() / 5; r.IntN(10) == 0 {
				now += []float64{0.5, 1, 3, 10, 70}[r.IntN(5)]
			}
			if until, _ := strconv.Atoi(ask("HGET", keys[0], "gone")); until > 0 && until <= int(now) {
				ask(append([]string{"DEL"}, keys...)...)
			}
			if ask(append(append([]string{"EVALSHA", sha, "5"}, keys...), strconv.Itoa(int(now)))...) == "1" {
				if taken = append(taken, now); within(60) > most {
					t.Fatalf("%d of %d in a minute, at %.2f", within(60), most, now)
				}
			} else if refused++; within(61) < most { // a second longer is what buckets cost
				t.Fatalf("refused with %d of %d, at %.2f", within(61), most, now)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// redisFor starts Redis for a test and asks it one thing after the other.
func redisFor(t *testing.T, path string) func(words ...string) string {
	t.Helper()
	at, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(at)
	c := exec.CommandContext(t.Context(), path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--loglevel", "warning")
	c.Dir = t.TempDir()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	var line net.Conn
	for end := time.Now().Add(20 * time.Second); line == nil; {
		if line, err = new(net.Dialer).DialContext(t.Context(), "tcp", at); err != nil && time.Now().After(end) {
			t.Fatal(err)
		}
		if line == nil {
			<-time.After(10 * time.Millisecond)
		}
	}
	t.Cleanup(func() { _ = line.Close() })
	read := bufio.NewReader(line)
	return func(words ...string) string {
		t.Helper()
		text := fmt.Appendf(nil, "*%d\r\n", len(words))
		for _, w := range words {
			text = fmt.Appendf(text, "$%d\r\n%s\r\n", len(w), w)
		}
		if _, err := line.Write(text); err != nil {
			t.Fatal(err)
		}
		said, err := read.ReadString('\n')
		if err == nil && said[0] == '$' && said[1] != '-' {
			said, err = read.ReadString('\n')
			said = "$" + said
		}
		if err != nil || said[0] == '-' {
			t.Fatalf("%s: %q, %v", words[0], said, err)
		}
		return strings.TrimSpace(said[1:])
	}
}
