// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// A price feed for local chains, with the interface that oracles have (AggregatorV3). Its
/// owner writes what he likes, so it is worth nothing elsewhere.
contract PriceFeed {
    struct Round {
        int256 answer;
        uint256 startedAt;
        uint256 updatedAt;
        uint80 answeredInRound;
    }

    address public immutable owner;
    uint8 public immutable decimals;
    string public description;
    uint256 public constant version = 1;
    uint80 public latestRound;
    mapping(uint80 => Round) private rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NotOwner();
    error NoData();

    constructor(string memory description_, uint8 decimals_, int256 answer) {
        owner = msg.sender;
        description = description_;
        decimals = decimals_;
        write(answer, block.timestamp, block.timestamp);
    }

    /// Writes a price of now.
    function set(int256 answer) external {
        write(answer, block.timestamp, block.timestamp);
    }

    /// Writes a round as it likes, to show what a feed in trouble looks like. A feed of a
    /// sequencer answers 0 while it is up, since startedAt.
    function setRound(int256 answer, uint256 startedAt, uint256 updatedAt, uint80 behind) external {
        write(answer, startedAt, updatedAt);
        rounds[latestRound].answeredInRound = latestRound - behind;
    }

    function getRoundData(uint80 round) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round memory r = rounds[round];
        if (round == 0 || round > latestRound) revert NoData();
        return (round, r.answer, r.startedAt, r.updatedAt, r.answeredInRound);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latestRound);
    }

    function write(int256 answer, uint256 startedAt, uint256 updatedAt) private {
        if (msg.sender != owner) revert NotOwner();
        latestRound++;
        rounds[latestRound] = Round(answer, startedAt, updatedAt, latestRound);
        emit AnswerUpdated(answer, latestRound, updatedAt);
    }
}
