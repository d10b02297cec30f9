/** Width and height of an image, read from its header without decoding it. */

export interface ImageSize {
  width: number;
  height: number;
}

/** Null when the header is not that of such an image. */
export function pngSize(content: Buffer): ImageSize | null {
  if (content.length < 33 || content.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}

export function gifSize(content: Buffer): ImageSize | null {
  if (content.length < 13) return null;
  return { width: content.readUInt16LE(6), height: content.readUInt16LE(8) };
}

export function webpSize(content: Buffer): ImageSize | null {
  if (content.length < 30) return null;
  const chunk = content.toString('latin1', 12, 16);
  if (chunk === 'VP8X') return { width: content.readUIntLE(24, 3) + 1, height: content.readUIntLE(27, 3) + 1 };
  if (chunk === 'VP8L' && content[20] === 0x2f) {
    const bits = content.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  const hasStartCode = content[23] === 0x9d && content[24] === 0x01 && content[25] === 0x2a;
  if (chunk === 'VP8 ' && hasStartCode) {
    return { width: content.readUInt16LE(26) & 0x3fff, height: content.readUInt16LE(28) & 0x3fff };
  }
  return null;
}

/** Markers of a JPEG that begin a frame; 0xC4, 0xC8 and 0xCC are other things. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

export function jpegSize(content: Buffer): ImageSize | null {
  for (let at = 2; at + 9 < content.length; ) {
    if (content[at] !== 0xff) return null;
    const marker = content[at + 1]!;
    // Fill bytes, and markers without a length.
    if (marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (isFrame(marker)) return { width: content.readUInt16BE(at + 7), height: content.readUInt16BE(at + 5) };
    const length = content.readUInt16BE(at + 2);
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
}
