/**
 * How many fields a message has on its first level, without decoding it: of a list of messages, how many items. Two bytes make an item that takes some
 * hundred when it is decoded, so a list is counted first. Counts up to `most` and one more; what is no message counts as far as it is one.
 */
export function countFields(message: Uint8Array, most: number): number {
  let [at, count] = [0, 0]
  const readVarint = (): number => {
    let [value, shift] = [0, 1]
    for (;;) {
      const byte = message[at++] ?? 0
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      shift *= 128
    }
  }
  while (at < message.length && count <= most) {
    const wireType = readVarint() & 7
    if (wireType === 0) readVarint()
    else if (wireType === 1) at += 8
    else if (wireType === 2) {
      // Read before it is added: reading moves the place.
      const length = readVarint()
      at += length
    } else if (wireType === 5) at += 4
    // Groups are in no message of ours: the decoder has the words.
    else return count
    count += 1
  }
  return count
}
