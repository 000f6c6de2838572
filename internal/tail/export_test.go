package tail

// Later is a reason to come back, for tests of those who do.
func Later(why error) error { return &laterError{why: why} }
