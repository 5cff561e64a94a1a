#!/usr/bin/env node
import { runTollgate } from './run.js'

process.exitCode = await runTollgate({
  args: process.argv.slice(2),
  variables: process.env,
  folder: process.cwd(),
  print: (text) => process.stdout.write(`${text}\n`),
  printError: (text) => process.stderr.write(`${text}\n`),
})
