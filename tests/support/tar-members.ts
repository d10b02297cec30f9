import { tarEnd, tarHeader, tarPadding } from '../../src/core/tar-format.ts';

/** Archives as tests take them apart and put them together, with headers that no writer of ours makes. */
/** Contents by name, in their order. */
export function untar(tar: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  for (let at = 0; tar[at] !== 0; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    members.set(name, tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return members;
}

export type Member = [name: string, content: Buffer, change?: (header: Buffer) => void];

/** With `change`, a header is changed and its checksum made to fit. */
export function tarOf(members: Iterable<Member>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, content, change] of members) {
    const header = tarHeader(name, content.length, new Date(0));
    if (change) {
      change(header);
      header.fill(' ', 148, 156);
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, '0')}\0 `,
        148,
        'latin1',
      );
    }
    parts.push(header, content, tarPadding(content.length));
  }
  return Buffer.concat([...parts, tarEnd()]);
}
