// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Taker {
    function payToken(address token, uint256 amount, bytes32 order) external;
}

/// A token that is listed and then begins to lie, as one behind a proxy can.
contract LyingToken {
    string public constant symbol = "USDC";
    uint8 public decimals = 6;
    uint256 public mode;
    mapping(address => uint256) private held;
    mapping(address => uint256) private extra;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function setMode(uint256 m) external {
        mode = m;
    }

    function setDecimals(uint8 d) external {
        decimals = d;
    }

    function balanceOf(address a) external view returns (uint256) {
        return held[a] + extra[a];
    }

    function mint(address to, uint256 value) external returns (bool) {
        if (mode == 1) {
            emit Transfer(address(0), to, value); // nothing moves
        } else if (mode == 2) {
            held[to] += value - value / 100; // a fee is taken
            emit Transfer(address(0), to, value);
        } else if (mode == 3) {
            held[to] += value;
            emit Transfer(address(0), to, value);
            emit Transfer(address(0), to, value); // told twice
        } else if (mode == 4) {
            held[to] += value; // nothing is told
        } else if (mode == 5) {
            held[to] += value;
            extra[to] += value; // more than was told
            emit Transfer(address(0), to, value);
        } else if (mode == 6) {
            return false;
        } else if (mode == 7) {
            held[to] += value; // told in a form that is not ERC-20's
            log4(to, value);
        } else if (mode == 8) {
            held[to] += value;
            shortLog(to, value);
        } else if (mode == 9) {
            emit Transfer(address(0), to, type(uint256).max);
            emit Transfer(address(0), to, type(uint256).max);
        } else {
            held[to] += value;
            emit Transfer(address(0), to, value);
        }
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (mode == 6) return false;
        if (mode == 10) return true; // says yes and does nothing
        if (mode == 11) revert("frozen");
        held[msg.sender] -= value;
        held[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Moves what somebody has, and asks nobody for leave.
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (mode == 6) return false;
        if (mode == 10) return true; // says yes and does nothing
        if (mode == 14) Taker(msg.sender).payToken(address(this), value, bytes32("inner")); // comes in again
        if (mode == 15) {
            try Taker(msg.sender).payToken(address(this), value, bytes32("inner")) {} catch {}
        }
        held[from] -= value;
        if (mode == 12) value -= value / 100; // a fee is taken and told
        held[to] += value;
        if (mode == 5) extra[to] += value; // more than is told
        if (mode == 16) return true; // nothing is told
        emit Transfer(mode == 17 ? address(this) : from, to, mode == 13 ? value * 2 : value);
        if (mode == 18) emit Transfer(from, to, value); // told twice
        if (mode == 19) {
            assembly {
                return(0, 0) // answers with nothing
            }
        }
        return true;
    }

    function allowance(address, address) external pure returns (uint256) {
        return 7;
    }

    function log4(address to, uint256 value) private {
        bytes32 t = keccak256("Transfer(address,address,uint256)");
        assembly {
            log4(0, 0, t, 0, to, value)
        }
    }

    function shortLog(address to, uint256 value) private {
        bytes32 t = keccak256("Transfer(address,address,uint256)");
        assembly {
            mstore(0, value)
            log3(16, 16, t, 0, to)
        }
    }
}
