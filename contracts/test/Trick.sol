// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Mintable {
    function mint(address to, uint256 value) external;
}

/// Pays in every way in which a contract can, and pretends to.
contract Trick {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed to, address asset, uint256 amount, string memo);
    event Same(address indexed from, address indexed to, uint256 indexed id);

    event Paid(bytes32 indexed order, address indexed sender, address indexed token, uint256 amount);

    receive() external payable {}

    function pay(address[] calldata to, uint256[] calldata amounts) public payable {
        for (uint256 i = 0; i < to.length; i++) {
            (bool ok,) = to[i].call{value: amounts[i]}("");
            require(ok);
        }
    }

    function payAndFail(address[] calldata to, uint256[] calldata amounts) external payable {
        pay(to, amounts);
        revert("after all");
    }

    /// The inner frame pays and is undone; the transaction succeeds.
    function payInnerUndone(address[] calldata to, uint256[] calldata amounts) external payable {
        try this.payAndFail{value: msg.value}(to, amounts) {} catch {}
    }

    /// Takes what was sent for somebody, says so, and keeps it.
    function keep(address to) external payable {
        emit Deposit(to, address(0), msg.value, "SWAP:ETH");
        emit Transfer(msg.sender, to, msg.value);
    }

    /// Says that it paid a token.
    function fake(address to, uint256 value) public {
        emit Transfer(msg.sender, to, value);
    }

    /// Says that it took a payment for an order.
    function fakePaid(bytes32 order, address token, uint256 value) external {
        emit Paid(order, msg.sender, token, value);
    }

    /// Calls another and goes on, or is undone after it.
    function call(address to, bytes calldata data, bool undone) external payable {
        (bool ok,) = to.call{value: msg.value}(data);
        require(ok && !undone);
    }

    /// Pays an order in an inner frame that is undone.
    function callUndone(address to, bytes calldata data) external payable {
        try this.call{value: msg.value}(to, data, true) {} catch {}
    }

    function fakeNFT(address to, uint256 id) external {
        emit Same(msg.sender, to, id);
    }

    /// A true payment of a token and a false one behind it.
    function mintAndFake(address token, address to, uint256 value) external {
        Mintable(token).mint(to, value);
        fake(to, value * 1000);
    }

    /// A token is made in an inner frame that is undone.
    function mintUndone(address token, address to, uint256 value) external {
        try this.mintAndFail(token, to, value) {} catch {}
    }

    function mintAndFail(address token, address to, uint256 value) external {
        Mintable(token).mint(to, value);
        revert("after all");
    }

    function bequeath(address payable to) external payable {
        new Bequest{value: msg.value}(to);
    }

    function delegate(address to, bytes calldata data) external payable {
        (bool ok,) = to.delegatecall(data);
        require(ok);
    }
}

/// Ends at once and leaves what it has to somebody.
contract Bequest {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}
