package api

import "strings"

// Fields are the headers of an answer, in the order in which they are sent: answers
// that must not be told apart must not differ in it either.
type Fields struct{ all []field }

type field struct{ name, value string }

// usualFields is how many most answers have at most.
const usualFields = 16

// Set makes a header have this value only.
func (f *Fields) Set(name, value string) {
	for i := range f.all {
		if len(f.all[i].name) == len(name) && strings.EqualFold(f.all[i].name, name) {
			f.all[i].value = value
			return
		}
	}
	f.Add(name, value)
}

// Add gives a header one more value.
func (f *Fields) Add(name, value string) { f.all = append(f.all, field{name, value}) }

// Del takes headers out.
func (f *Fields) Del(names ...string) {
	kept := f.all[:0]
	for _, one := range f.all {
		out := false
		for _, name := range names {
			out = out || strings.EqualFold(one.name, name)
		}
		if !out {
			kept = append(kept, one)
		}
	}
	f.all = kept
}
