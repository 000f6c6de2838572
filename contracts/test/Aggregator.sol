// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Coinage {
    function mint(address to, uint256 value) external;
    function balanceOf(address who) external view returns (uint256);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface Executes {
    function callBytes(bytes calldata data) external payable;
}

/// Takes and gives as an aggregator's router does, by the same call: what is ours goes to
/// whom the call names, an executor does the rest, and the least is held to.
contract StandInRouter {
    address private constant COIN = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    struct Description {
        address srcToken;
        address dstToken;
        address[] srcReceivers;
        uint256[] srcAmounts;
        address[] feeReceivers;
        uint256[] feeAmounts;
        address dstReceiver;
        uint256 amount;
        uint256 minReturnAmount;
        uint256 flags;
        bytes permit;
    }

    struct Execution {
        address callTarget;
        address approveTarget;
        bytes targetData;
        Description desc;
        bytes clientData;
    }

    event Swapped(address sender, address srcToken, address dstToken, address dstReceiver, uint256 spentAmount, uint256 returnAmount);

    function swap(Execution calldata e) external payable returns (uint256 got, uint256) {
        Description calldata d = e.desc;
        require(msg.value == (d.srcToken == COIN ? d.amount : 0), "coins");
        uint256 had = balance(d.dstToken, d.dstReceiver);
        uint256 handed;
        for (uint256 i = 0; i < d.srcReceivers.length; i++) {
            handed += d.srcAmounts[i];
            require(Coinage(d.srcToken).transferFrom(msg.sender, d.srcReceivers[i], d.srcAmounts[i]), "taken");
        }
        require(handed <= d.amount, "more than was said");
        Executes(e.callTarget).callBytes{value: msg.value}(e.targetData);
        got = balance(d.dstToken, d.dstReceiver) - had;
        require(d.minReturnAmount > 0 && got >= d.minReturnAmount, "too little");
        emit Swapped(msg.sender, d.srcToken, d.dstToken, d.dstReceiver, d.amount, got);
        return (got, 0);
    }

    function balance(address token, address who) private view returns (uint256) {
        return token == COIN ? who.balance : Coinage(token).balanceOf(who);
    }
}

/// Gives somebody what its data say: coins that it has, or tokens that it makes.
contract StandInExecutor {
    receive() external payable {}

    function callBytes(bytes calldata data) external payable {
        (address token, address to, uint256 amount) = abi.decode(data, (address, address, uint256));
        if (token == address(0)) {
            (bool ok,) = to.call{value: amount}("");
            require(ok, "paid");
        } else {
            Coinage(token).mint(to, amount);
        }
    }
}
