import type { SourceText } from '../checks/source-files.ts';

const MIN_LINES = 8;
/** Of a block in more places than this only the first ones are counted. */
const MAX_PLACES = 12;

export interface DuplicateBlock {
  lines: number;
  first: { file: string; line: number };
  second: { file: string; line: number };
}

interface Line {
  text: string;
  file: string;
  line: number;
}

/**
 * Runs of at least 8 equal lines in two places: without blanks, imports, comments and lines of brackets only. A chain of calls
 * (`z.int().nullish().describe('…')`) is one line, however it is wrapped: a field counts once, whatever the length of its description.
 */
export function findDuplicateBlocks(files: readonly SourceText[]): DuplicateBlock[] {
  const sources = files.map(readLines);
  const windows = new Map<string, [source: number, at: number][]>();
  sources.forEach((lines, source) => {
    for (let at = 0; at + MIN_LINES <= lines.length; at++) {
      const key = textOf(lines, at);
      const places = windows.get(key);
      if (!places) windows.set(key, [[source, at]]);
      else if (places.length < MAX_PLACES) places.push([source, at]);
    }
  });
  const blocks: DuplicateBlock[] = [];
  for (const places of windows.values()) {
    places.forEach(([source, at], index) => {
      for (const [otherSource, otherAt] of places.slice(index + 1)) {
        const [one, other] = [sources[source]!, sources[otherSource]!];
        if (source === otherSource && otherAt - at < MIN_LINES) continue;
        if (at > 0 && otherAt > 0 && one[at - 1]!.text === other[otherAt - 1]!.text) continue;
        let lines = MIN_LINES;
        while (one[at + lines] && one[at + lines]!.text === other[otherAt + lines]?.text) lines++;
        blocks.push({ lines, first: placeOf(one[at]!), second: placeOf(other[otherAt]!) });
      }
    });
  }
  return blocks.sort((a, b) => b.lines - a.lines);
}

const placeOf = ({ file, line }: Line): { file: string; line: number } => ({ file, line });

function textOf(lines: readonly Line[], at: number): string {
  let text = '';
  for (let next = at; next < at + MIN_LINES; next++) text += `${lines[next]!.text}\n`;
  return text;
}

function readLines({ path, text }: SourceText): Line[] {
  const lines: Line[] = [];
  let isInImport = false;
  text.split('\n').forEach((given, index) => {
    const line = given.trim();
    if (/^import\b/.test(line)) isInImport = true;
    const isLeftOut = isInImport || line === '' || /^(?:\/\/|\/?\*)/.test(line) || /^[\])}({[;,]+$/.test(line);
    if (isInImport && line.endsWith(';')) isInImport = false;
    if (isLeftOut) return;
    const previous = lines.at(-1);
    if (previous && (line.startsWith('.') || previous.text.endsWith('('))) previous.text += line;
    else lines.push({ text: line.replace(/\s+/g, ' '), file: path, line: index + 1 });
  });
  return lines;
}
