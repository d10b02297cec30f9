const BLOCK = 512;

/** Names and texts of the files of a tar archive. @throws Error when a header's checksum is wrong */
export function entriesOf(archive: Buffer): Record<string, string> {
  const entries: Record<string, string> = {};
  for (let at = 0; archive[at] !== 0; ) {
    const header = Buffer.from(archive.subarray(at, at + BLOCK));
    const field = (from: number, length: number) => header.toString('latin1', from, from + length).replace(/[\0 ].*$/s, '');
    const sum = Number.parseInt(field(148, 8), 8);
    const [name, size] = [field(0, 100), Number.parseInt(field(124, 12), 8)];
    header.fill(' ', 148, 156);
    if (header.reduce((total, byte) => total + byte, 0) !== sum) throw new Error(`the checksum of ${name} is wrong`);
    entries[name] = archive.toString('utf8', at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return entries;
}
