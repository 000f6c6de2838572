// Package config reads one TOML file and the environment into plain values for
// each room.
//
// It guarantees that a key nobody knows, a value of the wrong kind, and a money
// setting that would mean "trust all" are refused with the name of the key and
// what to write instead, and that what it shows of itself holds no secret. It is
// the only room, beside cmd, that reads the environment.
package config
