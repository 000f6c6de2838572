// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Asks many contracts at once, as Multicall3 does on public chains. For local chains.
contract Multicall {
    struct Call {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call[] calldata calls) external payable returns (Result[] memory said) {
        said = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (said[i].success, said[i].returnData) = calls[i].target.call(calls[i].callData);
            require(said[i].success || calls[i].allowFailure, "Multicall: a call failed");
        }
    }
}
