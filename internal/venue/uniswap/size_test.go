package uniswap_test

// stirs is how often the pools of the property test are changed.
const stirs = 25
