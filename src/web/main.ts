import { createApp } from '../app.js'
import { UsageService } from '../metering/service.js'
import { databaseVariables, flag, port, processVariables, redisVariables, secret } from '../platform/config.js'
import { listen } from '../platform/health.js'
import { connectPostgres } from '../platform/postgres.js'
import { runProcess } from '../platform/process.js'
import { createFrontDoor } from './koa.js'

export const webConfig = {
  ...processVariables,
  ...databaseVariables,
  ...redisVariables,
  PORT: port({ default: 4000, desc: 'Port of the HTTP server' }),
  OPERATOR_KEY: secret({ default: undefined, desc: 'Key of the operator; without it the queue board is off' }),
  GRAPHIQL: flag({
    default: false,
    devDefault: true,
    desc: 'Serves the GraphiQL editor at /graphql; on by default unless NODE_ENV is production',
  }),
}

/** The front door. Any number may run: none keeps anything that another one would need. */
await runProcess({ name: 'web', spec: webConfig }, async (config, life) => {
  const postgres = await connectPostgres(life, config.DATABASE_URL.reveal(), { poolSize: config.DATABASE_POOL_SIZE })
  const queues = { redisUrl: config.REDIS_URL.reveal(), prefix: config.QUEUE_PREFIX }
  const app = { ...createApp({ life, postgres, queues }), usage: new UsageService({ life, queues, pool: postgres.pool }) }
  const server = createFrontDoor({ app, life, queues, operatorKey: config.OPERATOR_KEY, hasGraphiql: config.GRAPHIQL })
  const portTaken = await listen(server, { port: config.PORT, host: config.BIND_ADDRESS })
  life.log.info({ port: portTaken }, 'listening')
})
