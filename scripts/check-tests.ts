/**
 * How tests are written (docs/testing.md): one promise a test, so no semicolon in a name; rows by builders, not by `INSERT`, and events by
 * their typed reader, except where a comment says why; no literal that is spread only to join lines; a `toThrow` that names the error.
 * `test-style.json` has how many places break a rule: a count may only fall.
 *   npm run check:tests                  fails where a count has risen
 *   npm run check:tests -- --list RULE   prints where
 *   npm run check:tests -- --write       lowers the counts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listFiles, projectRoot } from './checks/source-files.ts';

const NAMED =
  /(?<!\.)\b(?:it|test|describe)(?:\.\w+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?)*\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** Offsets of what a rule refuses in the source of a test file. */
const RULES: Record<string, (source: string) => number[]> = {
  'name with a semicolon': (source) => found(source, NAMED, ([, ...names]) => names.some((name) => name?.includes(';'))),
  'raw INSERT': (source) => withoutReason(source, found(source, /\bINSERT INTO\b/g)),
  'events by SQL': (source) => withoutReason(source, found(source, /\b(?:FROM|JOIN) domain_events\b/g)),
  'spread literal': (source) => found(source, /\.\.\.\{/g),
  'bare toThrow': (source) => found(source, /(?<!\.not)\.toThrow\(\)/g),
};

function found(source: string, pattern: RegExp, isMeant: (match: RegExpExecArray) => boolean = () => true): number[] {
  return [...source.matchAll(pattern)].filter(isMeant).map(({ index }) => index);
}

/** A comment with the reason why the SQL of the lines that follow it, up to an empty one, or of the whole file has to be there. */
const REASON = /\/\/ Raw SQL: \S/;
const REASON_OF_FILE = /\/\/ Raw SQL of this file: \S/;

/** Of these offsets those whose SQL no comment explains. */
function withoutReason(source: string, offsets: number[]): number[] {
  return offsets.filter((offset) => {
    const before = source.slice(0, offset);
    const paragraph = before.slice(before.lastIndexOf('\n\n') + 1);
    return !REASON.test(paragraph) && !REASON_OF_FILE.test(before);
  });
}

/** By rule, where a test file breaks it, as line numbers. */
export function brokenRules(source: string): Record<string, number[]> {
  const lineAt = (offset: number) => source.slice(0, offset).split('\n').length;
  return Object.fromEntries(Object.entries(RULES).map(([rule, find]) => [rule, find(source).map(lineAt)]));
}

/** Exit code. */
function run([option, rule]: readonly string[]): number {
  const file = join(projectRoot, 'scripts', 'test-style.json');
  const allowed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  const places: Record<string, string[]> = Object.fromEntries(Object.keys(RULES).map((name) => [name, []]));
  for (const path of listFiles(projectRoot, 'tests', /\.test\.ts$/)) {
    const broken = brokenRules(readFileSync(join(projectRoot, path), 'utf8'));
    for (const [name, lines] of Object.entries(broken)) places[name]!.push(...lines.map((line) => `${path}:${line}`));
  }
  if (option === '--list') {
    console.log((places[rule ?? ''] ?? []).join('\n'));
    return 0;
  }
  const risen = Object.entries(places).filter(([name, { length }]) => length > (allowed[name] ?? 0));
  for (const [name, { length }] of risen) {
    console.error(`${name}: ${length}, allowed are ${allowed[name] ?? 0}. npm run check:tests -- --list '${name}' prints where.`);
  }
  if (risen.length > 0) return 1;
  const counts = Object.fromEntries(Object.entries(places).map(([name, { length }]) => [name, length]));
  if (option === '--write') writeFileSync(file, `${JSON.stringify(counts, null, 2)}\n`);
  console.log(
    `Tests: ${Object.entries(counts)
      .map(([name, count]) => `${name} ${count} of ${allowed[name] ?? 0}`)
      .join(', ')}.`,
  );
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exit(run(process.argv.slice(2)));
