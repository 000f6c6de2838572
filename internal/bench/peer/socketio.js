// Everybody who connects to socket.io gets every event, over WebSockets only.
const http = require('http')
const { Server } = require('socket.io')
require('v8').setFlagsFromString('--expose_gc')
const collect = require('vm').runInNewContext('gc')
const [port, , body] = process.argv.slice(-4)
const event = JSON.parse(body)
const hour = 3600000

const server = http.createServer((request, response) => {
  const asked = new URL(request.url, 'http://localhost')
  if (asked.pathname === '/settle') { collect(); collect() }
  for (let n = Number(asked.searchParams.get('n')); n > 0; n--) io.emit('event', event)
  response.statusCode = 204
  response.end()
})
const io = new Server(server, { transports: ['websocket'], pingInterval: hour, pingTimeout: hour, serveClient: false })
server.keepAliveTimeout = hour
server.listen(Number(port), '127.0.0.1')
