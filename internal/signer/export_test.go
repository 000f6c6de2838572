package signer

// SLIP10 is the node of a path of hardened indexes.
func SLIP10(seed []byte, path ...uint32) (key, code [32]byte) {
	n := edMaster(seed).at(path...)
	return n.key, n.code
}

// Only changes who may ask.
func (s *Server) Only(f func(uid uint32) bool) { s.allow = f }
