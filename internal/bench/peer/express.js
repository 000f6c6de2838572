// The same rules as the door's, in Express: a key, and five limits that nobody reaches.
// It stands before a backend, or answers by itself where none is named.
const express = require('express')
const { rateLimit } = require('express-rate-limit')
const [port, key, body, backend] = process.argv.slice(-4)
const most = 1000000000

const app = express()
app.use((request, response, next) => {
  if (request.get('X-Integrator-Key') !== key) return response.sendStatus(401)
  next()
})
const by = [
  () => 'company-1', (r) => r.get('X-Integrator-Key'), (r) => 'company-1' + r.get('X-End-User-IP'),
  () => 'company-1 creates', () => 'company-1 quotes',
]
for (const keyGenerator of by) {
  app.use(rateLimit({ windowMs: 60000, limit: most, keyGenerator, standardHeaders: 'draft-8', legacyHeaders: false, validate: false }))
}
if (backend) {
  const { createProxyMiddleware } = require('http-proxy-middleware')
  const agent = new (require('http').Agent)({ keepAlive: true, maxSockets: 64 })
  app.use(createProxyMiddleware({ target: 'http://' + backend, agent }))
} else {
  app.get('/v2/bench', (request, response) => { response.type('application/json').send(body) })
}
app.listen(Number(port), '127.0.0.1')
