import { BREAK, type DocumentNode, type ExecutionArgs, type ExecutionResult, execute, type Kind, visit } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { LRUCache } from 'lru-cache'

/** Compiling a document takes as long as executing it a hundred times. */
const usesBeforeCompiling = 100
/** A host application has a few. */
const maxDocuments = 100
/** A longer one takes tens of milliseconds to compile, in which the process does nothing else. */
const maxLength = 4_000

interface KnownDocument {
  uses: number
  /** Undefined: not used often enough yet. Null: it cannot be compiled. */
  compiled?: CompiledQuery | null
}

/**
 * Executes documents that are used over and over. graphql-js finds out anew each time how to read each variable and field, which is a quarter of what the
 * process does for a report; a compiled document has that behind it. Only for operations whose answers are plain: compiled, a field without a resolver
 * is neither called nor waited for, and unions are resolved in another way.
 *
 * A document becomes code here, so nothing of it may be but names: what has a value in it is never compiled. graphql-jit writes values into its code, and
 * some texts not as texts. Applications send values as variables.
 */
export class CompiledDocuments {
  readonly #known = new LRUCache<DocumentNode, KnownDocument>({ max: maxDocuments })
  readonly #usesBefore: number

  constructor({ usesBefore = usesBeforeCompiling }: { usesBefore?: number } = {}) {
    this.#usesBefore = usesBefore
  }

  /** As `execute` of graphql-js, for a valid document with one operation. */
  execute(args: ExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
    const compiled = this.#compiled(args)
    if (!compiled) return execute(args)
    const result = compiled.query(undefined, args.contextValue, args.variableValues ?? {}) as ExecutionResult | Promise<ExecutionResult>
    // Without data nothing was executed, for the variables were refused: graphql-js says better why.
    return result instanceof Promise || 'data' in result ? result : execute(args)
  }

  #compiled({ schema, document }: ExecutionArgs): CompiledQuery | null {
    const known = this.#known.get(document) ?? { uses: 0 }
    if (known.compiled !== undefined) return known.compiled
    if (known.uses === 0) this.#known.set(document, known)
    known.uses += 1
    if (known.uses <= this.#usesBefore) return null
    const compiled = isCompilable(document) ? compileQuery(schema, document) : null
    known.compiled = compiled && isCompiledQuery(compiled) ? compiled : null
    return known.compiled
  }
}

const valueKinds: ReadonlySet<`${Kind}`> = new Set([
  'BooleanValue',
  'EnumValue',
  'FloatValue',
  'IntValue',
  'ListValue',
  'NullValue',
  'ObjectValue',
  'StringValue',
])

function isCompilable(document: DocumentNode): boolean {
  let isSafe = (document.loc?.end ?? Number.POSITIVE_INFINITY) <= maxLength
  visit(document, {
    enter(node) {
      // Objects in the code have this name for something else.
      if (!valueKinds.has(node.kind) && !(node.kind === 'Name' && node.value === '__proto__')) return undefined
      isSafe = false
      return BREAK
    },
  })
  return isSafe
}
