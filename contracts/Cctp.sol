// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

// CCTP-compatible contracts for local chains: the functions, events, message layouts and
// refusals of Circle's Cross-Chain Transfer Protocol, version 2, as far as a user or a
// relayer of it meets them, and none of its administration. They are not Circle's code,
// and nothing that they mint is worth anything.

interface IHandler {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) external returns (bool);
    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) external returns (bool);
}

/// A dollar for local chains: minters make it, and burn what they hold.
contract DevUSDC {
    string public constant name = "Dev USDC";
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
    address public immutable owner;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public isMinter;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);

    constructor() {
        owner = msg.sender;
        isMinter[msg.sender] = true;
    }

    modifier onlyMinters() {
        require(isMinter[msg.sender], "FiatToken: caller is not a minter");
        _;
    }

    function configureMinter(address minter, bool may) external {
        require(msg.sender == owner, "caller is not the owner");
        isMinter[minter] = may;
    }

    function mint(address to, uint256 amount) external onlyMinters returns (bool) {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    function burn(uint256 amount) external onlyMinters {
        require(amount > 0, "FiatToken: burn amount not greater than 0");
        balanceOf[msg.sender] -= amount;
        totalSupply -= amount;
        emit Burn(msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}

/// Passes messages: says what is sent, and hands on what enough attesters signed.
contract DevMessageTransmitter {
    uint32 public constant version = 1;
    uint32 public immutable localDomain;
    uint256 public immutable signatureThreshold;
    address public immutable owner;
    bool public paused;
    address[] private attesters;
    mapping(address => bool) public isEnabledAttester;
    mapping(bytes32 => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    constructor(uint32 domain, address[] memory enabled, uint256 threshold) {
        require(threshold > 0 && threshold <= enabled.length, "Invalid signature threshold");
        for (uint256 i = 0; i < enabled.length; i++) {
            require(enabled[i] != address(0) && !isEnabledAttester[enabled[i]], "Invalid attester");
            isEnabledAttester[enabled[i]] = true;
        }
        (localDomain, attesters, signatureThreshold, owner) = (domain, enabled, threshold, msg.sender);
    }

    function getNumEnabledAttesters() external view returns (uint256) {
        return attesters.length;
    }

    function getEnabledAttester(uint256 index) external view returns (address) {
        return attesters[index];
    }

    function setPaused(bool to) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        paused = to;
    }

    function sendMessage(uint32 destinationDomain, bytes32 recipient, bytes32 destinationCaller, uint32 minFinalityThreshold, bytes calldata messageBody)
        external
    {
        require(!paused, "Pausable: paused");
        require(destinationDomain != localDomain, "Domain is local domain");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        bytes memory head = abi.encodePacked(version, localDomain, destinationDomain, bytes32(0), bytes32(uint256(uint160(msg.sender))));
        emit MessageSent(bytes.concat(head, abi.encodePacked(recipient, destinationCaller, minFinalityThreshold, uint32(0), messageBody)));
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool) {
        require(!paused, "Pausable: paused");
        verify(keccak256(message), attestation);
        require(message.length >= 148, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(caller == bytes32(0) || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(uint32(bytes4(message[0:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        deliver(message);
        emit MessageReceived(
            msg.sender, uint32(bytes4(message[4:8])), nonce, bytes32(message[44:76]), uint32(bytes4(message[144:148])), message[148:]
        );
        return true;
    }

    function deliver(bytes calldata message) private {
        IHandler to = IHandler(address(uint160(uint256(bytes32(message[76:108])))));
        uint32 from = uint32(bytes4(message[4:8]));
        uint32 finality = uint32(bytes4(message[144:148]));
        if (finality < 2000) {
            require(to.handleReceiveUnfinalizedMessage(from, bytes32(message[44:76]), finality, message[148:]), "handleReceiveUnfinalizedMessage() failed");
        } else {
            require(to.handleReceiveFinalizedMessage(from, bytes32(message[44:76]), finality, message[148:]), "handleReceiveFinalizedMessage() failed");
        }
    }

    /// Exactly as many signatures as the threshold says, by attesters in rising order.
    function verify(bytes32 digest, bytes calldata attestation) private view {
        require(attestation.length == 65 * signatureThreshold, "Invalid attestation length");
        address last = address(0);
        for (uint256 i = 0; i < signatureThreshold; i++) {
            bytes calldata s = attestation[i * 65:(i + 1) * 65];
            require(
                uint256(bytes32(s[32:64])) <= 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0, "ECDSA: invalid signature 's' value"
            );
            address signer = ecrecover(digest, uint8(s[64]), bytes32(s[0:32]), bytes32(s[32:64]));
            require(signer > last, "Invalid signature order or dupe");
            require(isEnabledAttester[signer], "Invalid signature: not attester");
            last = signer;
        }
    }
}

/// Burns and mints for the messenger, and knows which token is which on other domains.
contract DevTokenMinter {
    address public immutable owner;
    address public localTokenMessenger;
    mapping(address => uint256) public burnLimitsPerMessage;
    mapping(bytes32 => address) private localTokens;

    constructor() {
        owner = msg.sender;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier onlyMessenger() {
        require(msg.sender == localTokenMessenger, "Caller not local TokenMessenger");
        _;
    }

    function addLocalTokenMessenger(address messenger) external onlyOwner {
        localTokenMessenger = messenger;
    }

    function setMaxBurnAmountPerMessage(address token, uint256 limit) external onlyOwner {
        burnLimitsPerMessage[token] = limit;
    }

    function linkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken) external onlyOwner {
        localTokens[keccak256(abi.encodePacked(remoteDomain, remoteToken))] = localToken;
    }

    function getLocalToken(uint32 remoteDomain, bytes32 remoteToken) public view returns (address) {
        return localTokens[keccak256(abi.encodePacked(remoteDomain, remoteToken))];
    }

    function burn(address token, uint256 amount) external onlyMessenger {
        require(burnLimitsPerMessage[token] > 0, "Burn token not supported");
        require(amount <= burnLimitsPerMessage[token], "Burn amount exceeds per tx limit");
        DevUSDC(token).burn(amount);
    }

    function mint(uint32 domain, bytes32 burnToken, address to, address feeTo, uint256 amount, uint256 fee) external onlyMessenger returns (address token) {
        token = getLocalToken(domain, burnToken);
        require(token != address(0), "Mint token not supported");
        require(DevUSDC(token).mint(to, amount), "Mint operation failed");
        if (fee > 0) require(DevUSDC(token).mint(feeTo, fee), "Mint operation failed");
    }
}

/// What users call: burns here, and mints what was burned elsewhere.
contract DevTokenMessenger is IHandler {
    uint32 public constant messageBodyVersion = 1;
    address public immutable owner;
    address public immutable feeRecipient;
    DevMessageTransmitter public immutable localMessageTransmitter;
    DevTokenMinter public immutable localMinter;
    mapping(uint32 => bytes32) public remoteTokenMessengers;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected);

    constructor(DevMessageTransmitter transmitter, DevTokenMinter minter) {
        (localMessageTransmitter, localMinter, owner, feeRecipient) = (transmitter, minter, msg.sender, msg.sender);
    }

    function addRemoteTokenMessenger(uint32 domain, bytes32 messenger) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        remoteTokenMessengers[domain] = messenger;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        deposit(Deposit(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold), msg.data[0:0]);
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        require(hookData.length > 0, "Hook data is empty");
        deposit(Deposit(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold), hookData);
    }

    struct Deposit {
        uint256 amount;
        uint32 domain;
        bytes32 recipient;
        address token;
        bytes32 caller;
        uint256 maxFee;
        uint32 finality;
    }

    function deposit(Deposit memory d, bytes calldata hook) private {
        require(d.amount > 0, "Amount must be nonzero");
        require(d.recipient != bytes32(0), "Mint recipient must be nonzero");
        require(d.maxFee < d.amount, "Max fee must be less than amount");
        bytes32 remote = remoteTokenMessengers[d.domain];
        require(remote != bytes32(0), "No TokenMessenger for domain");
        require(DevUSDC(d.token).transferFrom(msg.sender, address(localMinter), d.amount), "Transfer operation failed");
        localMinter.burn(d.token, d.amount);
        bytes memory body = abi.encodePacked(
            messageBodyVersion, word(d.token), d.recipient, d.amount, word(msg.sender), d.maxFee, uint256(0), uint256(0), hook
        );
        localMessageTransmitter.sendMessage(d.domain, remote, d.caller, d.finality, body);
        emit DepositForBurn(d.token, d.amount, msg.sender, d.recipient, d.domain, remote, d.caller, d.maxFee, d.finality, hook);
    }

    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32, bytes calldata body) external returns (bool) {
        return mintFor(domain, sender, body);
    }

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body) external returns (bool) {
        require(finality >= 500, "Unsupported finality threshold");
        return mintFor(domain, sender, body);
    }

    function mintFor(uint32 domain, bytes32 sender, bytes calldata body) private returns (bool) {
        require(msg.sender == address(localMessageTransmitter), "Invalid message transmitter");
        require(sender != bytes32(0) && remoteTokenMessengers[domain] == sender, "Remote TokenMessenger unsupported");
        require(body.length >= 228, "Invalid burn message: too short");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expires = uint256(bytes32(body[196:228]));
        require(expires == 0 || expires > block.number, "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        address to = address(uint160(uint256(bytes32(body[36:68]))));
        address token = localMinter.mint(domain, bytes32(body[4:36]), to, feeRecipient, amount - fee, fee);
        emit MintAndWithdraw(to, amount - fee, token, fee);
        return true;
    }

    function word(address a) private pure returns (bytes32) {
        return bytes32(uint256(uint160(a)));
    }
}
