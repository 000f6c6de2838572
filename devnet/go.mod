module ferry/devnet

go 1.26.0
