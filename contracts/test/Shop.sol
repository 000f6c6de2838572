// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);

    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// A shop for tests: it exchanges a token and the chain's own coin at a rate that anybody
/// may set, and refuses where that brings less than was asked for.
contract Shop {
    Token immutable token;
    uint256 public rate = 100; // percent: what is given of the other for a unit

    constructor(Token token_) {
        token = token_;
    }

    receive() external payable {}

    function setRate(uint256 percent) external {
        rate = percent;
    }

    /// Takes the token, which must have been allowed, and gives coins.
    function sell(uint256 amount, uint256 least) external {
        require(token.transferFrom(msg.sender, address(this), amount), "not paid");
        uint256 out = (amount * rate) / 100;
        require(out >= least, "too little");
        (bool ok, ) = msg.sender.call{value: out}("");
        require(ok, "not given");
    }

    /// Takes the coins that come along and gives the token.
    function buy(uint256 least) external payable {
        uint256 out = (msg.value * rate) / 100;
        require(out >= least, "too little");
        require(token.transfer(msg.sender, out), "not given");
    }
}
