// The same rules as the door's, in Fastify: a key, and a limit that nobody reaches.
const fastify = require('fastify')({ logger: false })
const [port, key, body] = process.argv.slice(-3)
const most = 1000000000

fastify.register(require('@fastify/rate-limit'), {
  max: most, timeWindow: 60000, keyGenerator: (r) => r.headers['x-integrator-key'] + r.headers['x-end-user-ip'],
}).then(() => {
  fastify.addHook('onRequest', async (request, reply) => {
    if (request.headers['x-integrator-key'] !== key) reply.code(401).send()
  })
  fastify.get('/v2/bench', (request, reply) => { reply.type('application/json').send(body) })
  return fastify.listen({ port: Number(port), host: '127.0.0.1' })
})
