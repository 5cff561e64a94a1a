import { readFileSync } from 'node:fs'
import { type Copy, DockerfileParser, type Instruction, type JSONInstruction, type PropertyInstruction } from 'dockerfile-ast'

/** What is copied; `from` another stage, or null: from the repository. */
export interface CopiedFiles {
  from: string | null
  sources: string[]
  target: string
}

/** A stage of `.config/Dockerfile`. */
export interface Stage {
  name: string
  /** Another stage, or an image. */
  from: string
  /** COPY and RUN as they follow each other. */
  steps: (CopiedFiles | string)[]
  variables: Record<string, string>
  user: string | null
  ports: number[]
  check: string[]
  command: string[]
}

export function readStages(): Stage[] {
  const stages: Stage[] = []
  for (const instruction of DockerfileParser.parse(readFileSync('.config/Dockerfile', 'utf8')).getInstructions()) {
    const words = instruction.getArguments().map((argument) => argument.getValue())
    if (instruction.getKeyword() === 'FROM')
      stages.push({ name: words[2]!, from: words[0]!, steps: [], variables: {}, user: null, ports: [], check: [], command: [] })
    else read(stages.at(-1)!, instruction, words)
  }
  return stages
}

function read(stage: Stage, instruction: Instruction, words: string[]): void {
  const text = instruction.getRawArgumentsContent() ?? ''
  switch (instruction.getKeyword()) {
    case 'COPY': {
      const from = (instruction as Copy).getFromFlag()?.getValue() ?? null
      stage.steps.push({ from, sources: words.slice(0, -1), target: words.at(-1)! })
      break
    }
    case 'RUN':
      stage.steps.push(text)
      break
    case 'ENV':
      for (const property of (instruction as PropertyInstruction).getProperties())
        stage.variables[property.getName()] = property.getValue()!
      break
    case 'USER':
      stage.user = text
      break
    case 'EXPOSE':
      stage.ports = words.map(Number)
      break
    case 'HEALTHCHECK':
      stage.check = JSON.parse(text.replace(/^CMD /, '')) as string[]
      break
    case 'CMD':
      stage.command = (instruction as JSONInstruction).getJSONStrings().map((argument) => argument.getJSONValue())
      break
    case 'WORKDIR':
    case 'LABEL':
      break
    default:
      throw new Error(`Nobody knows here what ${instruction.getKeyword()} means`)
  }
}

/** The images that are run: those with a command. */
export const imagesOf = (stages: readonly Stage[]): Stage[] => stages.filter(({ command }) => command.length > 0)
