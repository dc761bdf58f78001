/** The reflected polynomial of CRC-32 in IEEE 802.3, which inverts all bits at start and end. */
const POLYNOMIAL = 0xedb88320;

const remainderOfByte = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) {
    remainder = remainder & 1 ? (remainder >>> 1) ^ POLYNOMIAL : remainder >>> 1;
  }
  return remainder;
});

/** Computes the CRC-32 of the first `chars` characters of a text, which must be ASCII. */
export function crc32(text: string, chars: number): number {
  let crc = 0xffffffff;
  for (let i = 0; i < chars; i++) {
    // The index is a byte and the table has 256 rows.
    const remainder = remainderOfByte[(crc ^ text.charCodeAt(i)) & 0xff] as number;
    crc = (crc >>> 8) ^ remainder;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
