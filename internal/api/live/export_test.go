package live

import "slices"

// Followed are the channels that the server lets clients follow.
func Followed() (names []string) {
	for name := range begin {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
