package wire

import "reflect"

// DecodeWhole is Decode without its quick way, and Quick the quick way alone.
func DecodeWhole(body []byte, into any) error {
	target := reflect.ValueOf(into).Elem()
	shape, err := ShapeOf(target.Type())
	if err != nil {
		return err
	}
	return decodeWhole(body, shape, target)
}

// Quick reports whether the quick way takes a body.
func Quick(body []byte, into any) bool {
	target := reflect.ValueOf(into).Elem()
	shape, err := ShapeOf(target.Type())
	return err == nil && quick(body, shape, target)
}
