package limit

import "testing"

// Subjects of one mark are as good as never met, so they are made here by hand.
func TestSubjectsOfTheSameMarkAreCountedApart(t *testing.T) {
	t.Parallel()
	const mark = 7
	names := []string{"a", "b", "c"}
	subject := func(name string) *Subject { return &Subject{Resource: KeyRequests, Company: "int_1", Name: name} }
	for gone := range names {
		var s shard
		for n, name := range names {
			e := s.findOrAdd(subject(name), mark)
			for range n + 1 {
				e.take(1)
			}
		}
		s.drop(s.get(subject(names[gone]), mark))
		if s.len != len(names)-1 || s.get(subject("d"), mark) != nil {
			t.Errorf("without %s there are %d", names[gone], s.len)
		}
		for n, name := range names {
			e := s.find(subject(name), mark)
			if n == gone {
				if e != nil {
					t.Errorf("%s was dropped and is there", name)
				}
				continue
			}
			if e == nil || e.used != int64(n+1) {
				t.Errorf("without %s, %s is %+v, want %d", names[gone], name, e, n+1)
			}
		}
		for s.oldest != nil {
			s.drop(s.oldest)
		}
		if s.len != 0 || len(s.entries) != 0 {
			t.Errorf("%d and %d are left of none", s.len, len(s.entries))
		}
	}
}
