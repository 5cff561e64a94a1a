/** Reads one definition by its shape and says every problem in it, with its path. */
import { z } from 'zod'
import { suggestion } from '../../kernel/nearest.js'
import type { CatalogProblem } from './document.js'
import { isMap, join } from './document-path.js'

/** What reading found out beside the definitions. */
export interface Findings {
  problems: CatalogProblem[]
  /** Definitions, entitlements and prices that could not be read. */
  unread: { path: string; raw: unknown }[]
}

/**
 * `value` as its shape wants it, defaults filled in, or null when it cannot be read so. Every problem is found; a key that the shape does
 * not know is one, but does not stand in the way of the rest.
 */
export function read<S extends z.ZodType>(shape: S, value: unknown, path: string, findings: Findings): z.output<S> | null {
  reportUnknownKeys(shape, value, path, findings.problems)
  const result = shape.safeParse(value)
  if (result.success) return result.data
  for (const issue of result.error.issues) findings.problems.push({ path: at(path, issue.path), message: issue.message })
  findings.unread.push({ path, raw: value })
  return null
}

function at(path: string, steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((prefix, step) => (typeof step === 'number' ? `${prefix}[${step}]` : join(prefix, String(step))), path)
}

function reportUnknownKeys(shape: z.core.$ZodType, value: unknown, path: string, problems: CatalogProblem[]): void {
  const inner = unwrap(shape)
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, element] of value.entries()) reportUnknownKeys(inner.element, element, `${path}[${index}]`, problems)
  }
  if (inner instanceof z.ZodObject && isMap(value)) {
    const known: Record<string, z.core.$ZodType> = inner.shape
    for (const [key, child] of Object.entries(value)) {
      if (Object.hasOwn(known, key)) reportUnknownKeys(known[key]!, child, join(path, key), problems)
      else problems.push(unknownKey(path, key, Object.keys(known)))
    }
  }
}

export function unknownKey(path: string, key: string, known: readonly string[]): CatalogProblem {
  return { path: join(path, key), message: `is not a known key${suggestion(key, known)}` }
}

/** The schema inside optional, nullable and transformed ones. */
function unwrap(shape: z.core.$ZodType): z.core.$ZodType {
  if (shape instanceof z.ZodPipe) return unwrap(shape.def.in)
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable) return unwrap(shape.def.innerType)
  return shape
}
