package wire_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ferry/internal/api/wire"
)

// TestEveryEventOfAnOrderIsInTheContract: what is told to owners is listed for them, and
// nothing else is.
func TestEveryEventOfAnOrderIsInTheContract(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[wire.OrderEvent]().FieldByName("Event")
	listed := strings.Split(field.Tag.Get("enum"), ",")
	slices.Sort(listed)
	if told := wire.EventNames(); !slices.Equal(listed, told) {
		t.Errorf("listed are %v and told %v", listed, told)
	}
}
