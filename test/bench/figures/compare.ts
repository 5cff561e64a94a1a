import { median, significant, spread } from './statistics.js'

/** What is printed for one measure of a benchmark. Subject and reference are medians in `unit`. */
export interface Comparison {
  name: string
  subject: number
  reference: number
  /** Median of the rounds' ratios subject / reference. Not the ratio of the medians: the two runs of a round share the machine's mood. */
  ratio: number
  unit: string
  /** Of the rounds' ratios: half of their interquartile range as a share of their median. */
  spread: number
}

/** One value for each measure. */
export type Sample<Measure extends string> = Record<Measure, number>

interface ComparisonPlan<Measure extends string> {
  /** Runs once and answers what it measured. Both sides do equal work. */
  subject: () => Promise<Sample<Measure>>
  reference: () => Promise<Sample<Measure>>
  measures: Record<Measure, Pick<Comparison, 'name' | 'unit'>>
  rounds: number
  /** No round begins that would probably end later than this after the first one began, once there are three. */
  seconds: number
  onRound: (round: number, subject: Sample<Measure>, reference: Sample<Measure>) => void
}

/** Fewer say nothing about the spread. */
const fewestRounds = 3

/**
 * Measures two sides in turns (A B, B A, A B, …), so that a machine that gets slower, or that others use too, troubles both alike.
 * Both have to be warm already.
 */
export async function compare<Measure extends string>(plan: ComparisonPlan<Measure>): Promise<Comparison[]> {
  const subjects: Sample<Measure>[] = []
  const references: Sample<Measure>[] = []
  const beganAt = performance.now()
  for (let round = 0; round < plan.rounds; round++) {
    const usedMs = performance.now() - beganAt
    if (round >= fewestRounds && usedMs + usedMs / round > plan.seconds * 1000) break
    const isSubjectFirst = round % 2 === 0
    const first = await (isSubjectFirst ? plan.subject() : plan.reference())
    const second = await (isSubjectFirst ? plan.reference() : plan.subject())
    const [subject, reference] = isSubjectFirst ? [first, second] : [second, first]
    subjects.push(subject)
    references.push(reference)
    plan.onRound(round + 1, subject, reference)
  }
  return (Object.keys(plan.measures) as Measure[]).map((measure) => {
    const ofSubject = subjects.map((sample) => sample[measure])
    const ofReference = references.map((sample) => sample[measure])
    const ratios = ofSubject.map((value, round) => value / ofReference[round]!)
    const { name, unit } = plan.measures[measure]
    return {
      name,
      subject: significant(median(ofSubject)),
      reference: significant(median(ofReference)),
      ratio: significant(median(ratios)),
      unit,
      spread: significant(spread(ratios)),
    }
  })
}
