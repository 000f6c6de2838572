package socket

// Message is one text for a peer: Head and then Body, sent as one. The two are apart so
// that a text for ten thousand peers is made once, with what differs between them in
// front: Head is the peer's own, Body everybody's. Neither may be changed after it was
// sent, nor be anything but UTF-8 together.
type Message struct{ Head, Body []byte }

// Text is a message of its own.
func Text(body []byte) Message { return Message{Body: body} }
