// Package testseed gives random tests their seed: another one each time, printed so that
// whoever sees a failure can have the same run again.
//
// Only tests import it, and suites that tests share. It must not import testing, which
// brings flags of its own into whatever links it.
package testseed
