import { readAll, type UsageIntake } from '../../metering/intake/intake.js'
import { patienceOf } from '../../metering/intake/patience.js'
import type { ReportedUsage } from '../../metering/model/report.js'
import { checkUsageValue } from '../../metering/model/usage-value.js'
import type { SentEvent, SentReport } from '../../reader/api/client.js'
import type { ReportUsageJson } from '../../reader/api/messages.js'
import type { UsageDoor } from '../../reader/source/source.js'

/** Usage goes to the environment's own queue and the results are read back, as the API's door does it: two hops less, and the API may be away. */
export class DirectQueue implements UsageDoor {
  constructor(
    private readonly environmentId: string,
    private readonly intake: Pick<UsageIntake, 'report' | 'reportEvents'>,
  ) {}

  async reportUsage(report: SentReport, signal: AbortSignal): Promise<ReportUsageJson> {
    return (await this.reportUsageBulk([report], signal))[0]!
  }

  async reportUsageBulk(reports: readonly SentReport[], signal: AbortSignal): Promise<ReportUsageJson[]> {
    const reported = await this.intake.report(this.environmentId, readAll(reports, toReport), patienceOf(signal))
    return reported.map(toReportUsageJson)
  }

  reportEvents(events: readonly SentEvent[], signal: AbortSignal): Promise<void> {
    return this.intake.reportEvents(this.environmentId, events, patienceOf(signal))
  }
}

const toReport = ({ updateBehavior, createdAt, value, ...report }: SentReport) => ({
  ...report,
  value: checkUsageValue(value),
  behavior: updateBehavior ?? ('DELTA' as const),
  timestamp: createdAt,
})

const toReportUsageJson = ({
  id,
  customerId,
  resourceId,
  featureId,
  currentUsage,
  periodStart,
  periodEnd,
  timestamp,
}: ReportedUsage): ReportUsageJson => ({
  id,
  customerId,
  resourceId,
  featureId,
  currentUsage: Number(currentUsage),
  timestamp: new Date(timestamp).toISOString(),
  usagePeriodStart: toIso(periodStart),
  usagePeriodEnd: toIso(periodEnd),
})

const toIso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
