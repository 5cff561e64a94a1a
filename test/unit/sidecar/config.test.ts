import { expect } from 'chai'
import { ConfigError, readConfig } from '../../../src/platform/config.js'
import { sidecarDefinition } from '../../../src/sidecar/config.js'

const read = (env: Record<string, string>) => readConfig(sidecarDefinition.spec, env, sidecarDefinition.check)

describe('sidecar configuration', () => {
  it('needs nothing but a key', () => {
    expect(read({ SERVER_API_KEY: 'server-1' })).to.include({
      PORT: 8443,
      SIDECAR_HTTP_PORT: 8080,
      LOG_LEVEL: 'warn',
      WS_ENABLED: true,
      OFFLINE: false,
    })
  })

  it('needs nothing at all offline', () => {
    expect(read({ OFFLINE: 'TRUE' }).OFFLINE).to.equal(true)
  })

  it('does not show its key', () => {
    expect(JSON.stringify(read({ SERVER_API_KEY: 'server-secret-1234' }))).to.not.include('secret')
  })

  it('takes the paths with and without a slash', () => {
    expect(read({ OFFLINE: '1', HEALTH_ENDPOINT_URL: '/a/b', READY_ENDPOINT_URL: 'c' })).to.include({
      HEALTH_ENDPOINT_URL: 'a/b',
      READY_ENDPOINT_URL: 'c',
    })
  })

  const invalid: Array<{ title: string; env: Record<string, string>; problems: RegExp[] }> = [
    { title: 'a missing key', env: {}, problems: [/SERVER_API_KEY is not set/] },
    {
      title: 'everything at once',
      env: {
        LOG_LEVEL: 'loud',
        ENTITLEMENTS_FALLBACK: '{',
        OFFLINE: 'maybe',
        PORT: '70000',
        API_URL: 'ftp://x',
        CACHE_MAX_SIZE_BYTES: '-1',
      },
      problems: [/SERVER_API_KEY/, /LOG_LEVEL/, /ENTITLEMENTS_FALLBACK/, /OFFLINE/, /PORT/, /API_URL/, /CACHE_MAX_SIZE_BYTES/],
    },
    { title: 'one port for two servers', env: { OFFLINE: 'TRUE', PORT: '8080' }, problems: [/PORT and SIDECAR_HTTP_PORT/] },
    { title: 'one path for two purposes', env: { OFFLINE: 'TRUE', HEALTH_ENDPOINT_URL: 'metrics' }, problems: [/three paths/] },
    { title: 'a staleness below the refresh', env: { OFFLINE: 'TRUE', MAX_STALENESS_SECS: '10' }, problems: [/MAX_STALENESS_SECS/] },
    {
      title: 'a WebSocket address that is none',
      env: { OFFLINE: 'TRUE', WS_URL: 'http://x' },
      problems: [/WS_URL must be a URL that begins with ws:/],
    },
  ]
  for (const { title, env, problems } of invalid) {
    it(`refuses ${title}`, () => {
      try {
        read(env)
      } catch (error) {
        expect(error).to.be.instanceOf(ConfigError)
        for (const problem of problems) expect((error as ConfigError).message).to.match(problem)
        expect((error as ConfigError).problems).to.have.length(problems.length)
        return
      }
      throw new Error('expected a refusal')
    })
  }
})
