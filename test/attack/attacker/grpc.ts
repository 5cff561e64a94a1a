/** The call of the sidecar that attackers and others make, as bytes. */
export const entitlementPath = '/service.sidecar.v1.SidecarService/GetEntitlement'

/** GetEntitlementRequest in gRPC's frame: `customer_id = 1`, `feature_id = 2`. The identifiers may be bytes that are no text. */
export function frame(customerId: string | Buffer, featureId: string): Buffer {
  const message = Buffer.concat([field(1, Buffer.from(customerId as string)), field(2, Buffer.from(featureId))])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** A length-delimited field of Protocol Buffers. */
function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = []
  for (let rest = bytes.length; ; rest >>>= 7) {
    if (rest < 0x80) {
      length.push(rest)
      break
    }
    length.push((rest & 0x7f) | 0x80)
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
}
