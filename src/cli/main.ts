// `npm run tollgate -- …`
import { runTollgate } from './run.js'

process.exitCode = await runTollgate({
  args: process.argv.slice(2),
  variables: process.env,
  // npm runs scripts in the project's folder and says here where it was called.
  folder: process.env.INIT_CWD ?? process.cwd(),
  print: (text) => process.stdout.write(`${text}\n`),
  printError: (text) => process.stderr.write(`${text}\n`),
})
