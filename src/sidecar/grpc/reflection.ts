import { loadSync, type MessageTypeDefinition, type PackageDefinition } from '@grpc/proto-loader'
import { sidecarPackage } from './proto.js'

/**
 * The published interface as reflection clients need it. The descriptors that proto-loader derives lack what a compiler writes:
 * imports, absolute type names, the names of map entries and the mark of optional fields. Tools such as grpcurl refuse them.
 */

interface FieldDescriptor {
  name: string
  typeName?: string
  oneofIndex?: number
  proto3Optional?: boolean
}

interface MessageDescriptor {
  name: string
  field?: FieldDescriptor[]
  nestedType?: Array<MessageDescriptor & { options?: { mapEntry?: boolean } }>
  enumType?: Array<{ name: string }>
  oneofDecl?: Array<{ name: string }>
}

interface FileDescriptor {
  name: string
  package: string
  dependency?: string[]
  messageType?: MessageDescriptor[]
  enumType?: Array<{ name: string }>
  service?: Array<{ method: Array<{ inputType: string; outputType: string }> }>
}

/** The one file of each package that is published, as a compiler would name it. */
const fileNames: Readonly<Record<string, string>> = {
  'service.sidecar.v1': 'service/sidecar/v1/sidecar.proto',
  'google.protobuf': 'google/protobuf/timestamp.proto',
}

/** A package with repaired descriptors and nothing else, for the reflection service. */
export function reflectedPackage(): PackageDefinition {
  const codec = loadSync('google/protobuf/descriptor.proto')['google.protobuf.FileDescriptorProto'] as MessageTypeDefinition<object, object>
  // Every message carries the files of the whole package.
  const message = sidecarPackage['service.sidecar.v1.Entitlement'] as MessageTypeDefinition<object, object>
  const files = message.fileDescriptorProtos.map((bytes) => codec.deserialize(bytes) as FileDescriptor)
  const fileOfType = new Map(
    files.flatMap((file) =>
      [...(file.messageType ?? []), ...(file.enumType ?? [])].map(({ name }) => [`.${file.package}.${name}`, file] as const),
    ),
  )
  for (const file of files) file.name = fileNames[file.package] ?? file.name
  for (const file of files) repairFile(file, fileOfType)
  const fileDescriptorProtos = files.map((file) => codec.serialize(file))
  return {
    [fileNames['service.sidecar.v1'] ?? '']: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos } as never,
  }
}

function repairFile(file: FileDescriptor, fileOfType: ReadonlyMap<string, FileDescriptor>): void {
  const imports = new Set<string>()
  const absolute = (name: string): string => {
    const full = [name, `.${file.package}.${name}`, `.${name}`].find((candidate) => fileOfType.has(candidate))
    if (full === undefined) throw new Error(`${file.name} refers to ${name}, which is in no published file`)
    const origin = fileOfType.get(full)
    if (origin !== undefined && origin !== file) imports.add(origin.name)
    return full
  }
  for (const message of file.messageType ?? []) repairMessage(message, `.${file.package}.${message.name}`, absolute)
  for (const method of file.service?.flatMap((service) => service.method) ?? []) {
    method.inputType = absolute(method.inputType)
    method.outputType = absolute(method.outputType)
  }
  file.dependency = [...imports]
}

/** Messages here nest nothing but the entries of their maps. */
function repairMessage(message: MessageDescriptor, fullName: string, absolute: (name: string) => string): void {
  const entryNames = new Map<string, string>()
  for (const nested of message.nestedType ?? []) {
    if (nested.options?.mapEntry !== true) throw new Error(`${fullName}.${nested.name} is nested, which reflection is not prepared for`)
    const name = `${nested.name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Entry`
    entryNames.set(nested.name, name)
    nested.name = name
    repairMessage(nested, `${fullName}.${name}`, absolute)
  }
  for (const field of message.field ?? []) {
    const entryName = field.typeName ? entryNames.get(field.typeName) : undefined
    if (entryName) field.typeName = `${fullName}.${entryName}`
    else if (field.typeName) field.typeName = absolute(field.typeName)
  }
  markOptionalFields(message)
}

/** A parser makes up a oneof for each optional field, of its name with a `_`. They come after the real ones. */
function markOptionalFields({ field: fields = [], oneofDecl: oneofs = [] }: MessageDescriptor): void {
  const oneofOf = new Map(
    fields.filter(({ oneofIndex }) => oneofIndex !== undefined).map((field) => [field, oneofs[field.oneofIndex ?? 0]]),
  )
  for (const [field, oneof] of oneofOf) if (oneof?.name === `_${field.name}`) field.proto3Optional = true
  oneofs.sort((a, b) => Number(a.name.startsWith('_')) - Number(b.name.startsWith('_')))
  for (const [field, oneof] of oneofOf) if (oneof) field.oneofIndex = oneofs.indexOf(oneof)
}
