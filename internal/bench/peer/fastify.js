// The same rules as the door's, in Fastify: a key, and the five limits of express.js
// that nobody reaches. The plugin runs one limit on a route by itself, which writes its
// headers; the others are asked by hand, as its manual has it. It stands before a backend,
// or answers by itself where none is named.
const fastify = require('fastify')({ logger: false })
const [port, key, body, backend] = process.argv.slice(-4)
const limit = { max: 1000000000, timeWindow: 60000 }

fastify.register(require('@fastify/rate-limit'), { ...limit, keyGenerator: () => 'company-1' }).then(() => {
  const others = [
    (r) => r.headers['x-integrator-key'], (r) => 'company-1' + r.headers['x-end-user-ip'],
    () => 'company-1 creates', () => 'company-1 quotes',
  ].map((keyGenerator) => fastify.createRateLimit({ ...limit, keyGenerator }))
  fastify.addHook('onRequest', async (request, reply) => {
    if (request.headers['x-integrator-key'] !== key) return reply.code(401).send()
    for (const check of others) {
      const { isAllowed, isExceeded, ttlInSeconds } = await check(request)
      if (!isAllowed && isExceeded) return reply.code(429).header('retry-after', ttlInSeconds).send()
    }
  })
  if (backend) {
    fastify.register(require('@fastify/reply-from'), { base: 'http://' + backend, undici: { connections: 64, pipelining: 1 } })
    fastify.get('/v2/bench', (request, reply) => { reply.from() })
  } else {
    fastify.get('/v2/bench', (request, reply) => { reply.type('application/json').send(body) })
  }
  return fastify.listen({ port: Number(port), host: '127.0.0.1' })
})
