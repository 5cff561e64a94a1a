import { Field, InputType, Int, ObjectType } from 'type-graphql'
import type { ImportJob as Job } from '../../../customer/imports.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as enums from '../schema/enums.js'
import { DateTime } from '../schema/scalars.js'

@InputType({ description: 'Which import.' })
export class ImportJobInput {
  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String, { description: 'What the import was answered with.' })
  id!: string
}

@ObjectType({ simpleResolvers: true, description: 'What became of one record of an import.' })
export class ImportItem {
  @Field(() => String, { nullable: true, description: 'FAILED: the code that a mutation of this record would have answered.' })
  errorCode!: string | null

  @Field(() => String, { nullable: true, description: 'FAILED: why.' })
  errorMessage!: string | null

  @Field(() => Int, { description: 'Place in the request, from 0.' })
  index!: number

  @Field(() => String, { nullable: true, description: 'DONE: the identifier of what was made or changed; made by us when none was given.' })
  refId!: string | null

  @Field(() => enums.ImportItemStatus)
  status!: keyof typeof enums.ImportItemStatus
}

@ObjectType({ description: 'An import of many records, worked off in the background. Readable until 30 days after its end.' })
export class ImportJob {
  @Field(() => DateTime, { simple: true })
  createdAt!: EpochMs

  @Field(() => Int, { simple: true, description: 'Records that were imported.' })
  done!: number

  @Field(() => Int, { simple: true, description: 'Records that were refused.' })
  failed!: number

  @Field(() => DateTime, { nullable: true, simple: true, description: 'Null: some records are still to be imported.' })
  finishedAt!: EpochMs | null

  @Field(() => String, { simple: true })
  id!: string

  @Field(() => Int, { simple: true, description: 'Records in the request.' })
  total!: number
}

export function toImportJob({ createdAt, done, failed, finishedAt, id, total }: Job): ImportJob {
  return { createdAt, done, failed, finishedAt, id, total }
}
