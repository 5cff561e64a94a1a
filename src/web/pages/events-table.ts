import { eventCatalog, eventTypes, exampleBody, jsonSchemaOf } from '../../notifications/model/catalog.js'

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** The catalog of events in Markdown: all of them, then each with an example and the schema of its body. */
export function eventsTable(): string {
  const rows = eventTypes.map((type) => `| [\`${type}\`](#${type.replace(/[._]/g, '-')}) | ${eventCatalog[type].description} |`)
  const each = eventTypes.map((type) =>
    [
      `### ${type}`,
      eventCatalog[type].description,
      json(exampleBody(type)),
      '<details><summary>JSON Schema</summary>',
      json(jsonSchemaOf(type)),
      '</details>',
    ].join('\n\n'),
  )
  return [['| event | when |', '|---|---|', ...rows].join('\n'), ...each].join('\n\n')
}
