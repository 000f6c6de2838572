// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Brings home what lies on deposit addresses. A deposit address signs once that it
/// acts by this contract's code (EIP-7702); from then on its money can leave in one
/// direction only, to the one account that this contract was made for, and only when
/// that account asks. No deposit address ever needs coins for gas.
contract Sweeper {
    /// The account that asks, and that gets everything.
    address private immutable home;
    /// This contract itself, also where its code runs on a deposit address.
    address private immutable self;

    error NotAllowed();
    error Mismatch();
    error Failed(address token, uint256 amount);

    constructor(address home_) {
        if (home_ == address(0)) revert NotAllowed();
        home = home_;
        self = address(this);
    }

    /// Deposits of the chain's own coin keep arriving after an address was swept.
    receive() external payable {}

    /// Empties deposit addresses, all or none of them. Token zero is the chain's own coin.
    function sweep(address token, address[] calldata from, uint256[] calldata amounts) external {
        if (msg.sender != home || address(this) != self) revert NotAllowed();
        if (from.length != amounts.length) revert Mismatch();
        for (uint256 i = 0; i < from.length; i++) {
            Sweeper(payable(from[i])).give(token, amounts[i]);
        }
    }

    /// Runs on a deposit address.
    function give(address token, uint256 amount) external {
        if (msg.sender != self) revert NotAllowed();
        if (token == address(0)) {
            (bool paid,) = home.call{value: amount}("");
            if (!paid) revert Failed(token, amount);
            return;
        }
        // Some tokens answer with nothing; none may answer no.
        (bool ok, bytes memory said) = token.call(abi.encodeWithSignature("transfer(address,uint256)", home, amount));
        if (!ok || token.code.length == 0 || (said.length != 0 && !abi.decode(said, (bool)))) revert Failed(token, amount);
    }
}
