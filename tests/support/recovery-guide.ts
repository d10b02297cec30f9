import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'point-in-time-recovery.md');

/**
 * The blocks of docs/point-in-time-recovery.md that are marked as `<!-- tested: NAME -->`, by name, without the indentation of a list. They
 * are run as they stand there, so that the document and the test cannot differ.
 */
export async function readTestedBlocks(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(DOCUMENT, 'utf8');
  const blocks = new Map<string, string>();
  for (const [, indent, name, body] of text.matchAll(/^( *)<!-- tested: (.+) -->\n *```\w*\n((?:.*\n)*?) *```$/gm)) {
    const lines = body!.split('\n').map((line) => (line.startsWith(indent!) ? line.slice(indent!.length) : line));
    blocks.set(name!, lines.join('\n'));
  }
  return blocks;
}
