// Asks the process of the same container, or of the same pod, whether it is ready (with `live`: whether it lives), and ends with 0 when it is.
// It goes by the variables that this process has. The images have PORT; a sidecar answers on a port of its own.
const {
  BIND_ADDRESS: address = '0.0.0.0',
  PORT: port,
  SIDECAR_HTTP_PORT: healthPort = port,
  HEALTH_ENDPOINT_URL: livePath = 'livez',
  READY_ENDPOINT_URL: readyPath = 'readyz',
} = process.env
const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
const path = (process.argv[2] === 'live' ? livePath : readyPath).replace(/^\//, '')
const url = `http://${host.includes(':') ? `[${host}]` : host}:${healthPort}/${path}`
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
  process.stdout.write(`${await response.text()}\n`)
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  process.stderr.write(`${url} does not answer: ${error instanceof Error ? String(error.cause ?? error.message) : error}\n`)
  process.exitCode = 1
}

export {}
