// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Takes payments that say which order they are for, and passes them on in the same
/// breath to the one account that it was made for. It has no owner, cannot be changed,
/// and keeps nothing.
contract Intake {
    /// The account that gets everything.
    address private immutable home;
    /// One while a payment is on its way. A token that calls back in between could
    /// otherwise have one payment measured twice.
    uint256 private busy;

    /// Token zero is the chain's own coin. The amount is what arrived.
    event Paid(bytes32 indexed order, address indexed sender, address indexed token, uint256 amount);

    error NotAllowed();
    error Nothing();
    error Failed(address token, uint256 amount);

    modifier once() {
        if (busy != 0) revert NotAllowed();
        busy = 1;
        _;
        busy = 0;
    }

    constructor(address home_) {
        if (home_ == address(0)) revert NotAllowed();
        home = home_;
    }

    /// Pays an order in the chain's own coin.
    function pay(bytes32 order) external payable once {
        if (msg.value == 0) revert Nothing();
        (bool paid,) = home.call{value: msg.value}("");
        if (!paid) revert Failed(address(0), msg.value);
        emit Paid(order, msg.sender, address(0), msg.value);
    }

    /// Pays an order in a token, of which the sender has allowed this contract enough.
    function payToken(address token, uint256 amount, bytes32 order) external once {
        if (token == address(0) || token.code.length == 0) revert NotAllowed();
        uint256 before = has(token);
        // Some tokens answer with nothing; none may answer no.
        (bool ok, bytes memory said) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, home, amount));
        if (!ok || (said.length != 0 && !abi.decode(said, (bool)))) revert Failed(token, amount);
        uint256 arrived = has(token) - before;
        if (arrived == 0) revert Nothing();
        emit Paid(order, msg.sender, token, arrived);
    }

    function has(address token) private view returns (uint256) {
        (bool ok, bytes memory said) = token.staticcall(abi.encodeWithSignature("balanceOf(address)", home));
        if (!ok || said.length != 32) revert Failed(token, 0);
        return abi.decode(said, (uint256));
    }
}
