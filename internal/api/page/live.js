// Lets the reader speak with this very server. Nothing is asked of any other host.
{
  const [connect, send, state, message, log] = ["connect", "send", "state", "message", "log"].map((id) => document.getElementById(id));
  const most = 200; // lines that are kept
  const url = new URL("../v2/ws", location.href);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  url.hash = "";
  for (const a of document.getElementsByClassName("address")) a.textContent = url.href;
  let socket;

  const say = (mark, text) => {
    log.hidden = false;
    log.append(`${mark} ${text}\n`);
    while (log.childNodes.length > most) log.firstChild.remove();
    log.scrollTop = log.scrollHeight;
  };
  const show = (words, open) => {
    state.textContent = words;
    connect.textContent = socket ? "Close" : "Connect";
    send.disabled = !open;
  };

  connect.addEventListener("click", () => {
    if (socket) return socket.close(1000);
    socket = new WebSocket(url, "swap.v2.json");
    show("connecting", false);
    socket.onopen = () => show(`connected to ${url.host}`, true);
    socket.onmessage = ({ data }) => say("←", data);
    socket.onclose = ({ code, reason }) => {
      socket = undefined;
      show(`closed with ${code}${reason ? `: ${reason}` : ""}`, false);
    };
  });

  document.getElementById("console").addEventListener("submit", (e) => {
    e.preventDefault();
    if (socket?.readyState !== WebSocket.OPEN) return;
    socket.send(message.value);
    say("→", message.value);
  });
}
