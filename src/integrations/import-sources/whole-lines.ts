const NEWLINE = 0x0a;

/** Cuts a stream of bytes into chunks that end with a line. What follows the last line is no line and is left out. */
export async function* wholeLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const open: Buffer[] = [];
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      open.push(chunk);
      continue;
    }
    yield open.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...open, chunk.subarray(0, end)]);
    open.length = 0;
    if (end < chunk.length) open.push(chunk.subarray(end));
  }
}
