/** Encodes a DER value: tag, length and concatenated parts. */
export function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = length < 0x80 ? [] : [...bigEndian(length)];
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? [length] : [0x80 | bytes.length, ...bytes])), ...parts]);
}

/** Encodes a DER sequence. */
export const sequence = (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, ...parts);

const bigEndian = (value: number): Buffer =>
  Buffer.from(value.toString(16).padStart(value.toString(16).length + (value.toString(16).length % 2), '0'), 'hex');

/** The values inside a value, each with tag and length. @throws Error for invalid DER */
export function partsOf(value: Uint8Array): Buffer[] {
  const bytes = contentOf(value);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { header, length } = lengthsAt(bytes, at);
    parts.push(bytes.subarray(at, at + header + length));
    at += header + length;
  }
  return parts;
}

/** The content of a value. @throws Error for invalid DER */
export function contentOf(value: Uint8Array): Buffer {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  const { header, length } = lengthsAt(bytes, 0);
  return bytes.subarray(header, header + length);
}

function lengthsAt(bytes: Buffer, at: number): { readonly header: number; readonly length: number } {
  const first = bytes[at + 1] ?? 0;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (count > 4 || first === 0x80 || at + 2 + count > bytes.length) throw new Error('invalid DER');
  const length = count === 0 ? first : bytes.readUIntBE(at + 2, count);
  if (at + 2 + count + length > bytes.length) throw new Error('invalid DER');
  return { header: 2 + count, length };
}
