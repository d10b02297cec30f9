// Lines of the change that no test of a round has run, from the engine's own counts: no instrumented copy of the source is needed.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { changedLines } from './changed-tests.mjs';
import { root } from './prepare.mjs';

const url = (path) => pathToFileURL(join(root, path)).href;

/**
 * @returns `environment` of a round whose workers record (`tests/support/changed-coverage.ts`), empty where no source is changed; `print`: prints the
 * share of changed lines that were run, and the others by file
 */
export function recordChanges() {
  const lines = changedLines();
  if (lines.size === 0) return { environment: {}, print: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
  const environment = { COVERAGE_FOLDER: folder, COVERAGE_FILES: JSON.stringify([...lines.keys()].map(url)) };
  return { environment, print: () => print(folder, lines) };
}

function print(folder, changed) {
  const scripts = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean).map(JSON.parse),
  );
  rmSync(folder, { recursive: true });
  let count = 0;
  const missed = [];
  for (const [path, lines] of changed) {
    const text = readFileSync(join(root, path), 'utf8');
    const counts = scripts.filter((script) => script.url === url(path)).map((script) => executed(script, text.length));
    const starts = startsOfCode(text);
    const known = lines.filter((line) => starts.has(line));
    const without = known.filter((line) => !counts.some((ran) => ran[starts.get(line)] === 1));
    count += known.length;
    if (without.length > 0) missed.push({ path, without });
  }
  if (count === 0) return;
  const total = missed.reduce((sum, { without }) => sum + without.length, 0);
  console.log(`Changed lines of code: ${count}; ${count - total} of them were run by a test of this round.`);
  for (const { path, without } of missed) console.log(`  not run: ${path}:${ranges(without)}`);
}

/** 1 for each character that was run: a function's ranges come after those that they are part of. */
function executed({ functions }, length) {
  const ran = new Uint8Array(length);
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

/** Offset of the first character of each line that has code, by line number; lines of comments, types and brackets have none. */
function startsOfCode(text) {
  const starts = new Map();
  let offset = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const indent = line.search(/\S/);
    if (indent >= 0 && !/^\s*(?:\/[/*]|\*|[)}\]]+[;,)]*$|import\b|(?:export )?(?:type|interface)\b)/.test(line))
      starts.set(index + 1, offset + indent);
    offset += line.length + 1;
  }
  return starts;
}

/** `3-5, 9` of the ascending numbers 3, 4, 5 and 9. */
function ranges(numbers) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && number === last.to + 1) last.to = number;
    else found.push({ from: number, to: number });
  }
  return found.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
