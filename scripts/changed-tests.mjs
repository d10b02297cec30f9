// Which tests a change touches, from the imports of the source: the fewer files lie between a test and a changed file, the nearer it is.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from './prepare.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');

function git(...words) {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter(Boolean);
  } catch {
    // A copy without history, or without a branch `main`.
    return [];
  }
}

/** The commit where the branch left `main`: the local one, else, in a clone of a branch and on `main` itself, that of the remote. */
function base() {
  const [head] = git('rev-parse', 'HEAD');
  const places = ['main', 'origin/main'].flatMap((branch) => git('merge-base', 'HEAD', branch));
  return places.find((commit) => commit !== head) ?? 'HEAD';
}

const newFiles = () => git('ls-files', '--others', '--exclude-standard');

/** Files that differ from the commit where the branch left main: changed, new and uncommitted ones; those deleted are left out. */
export function changedFiles() {
  const names = [...git('diff', '--name-only', base()), ...newFiles()];
  return [...new Set(names)].filter((path) => existsSync(join(root, path)));
}

/** @returns numbers of the changed and new lines of each changed source file, by its path */
export function changedLines() {
  const isSource = (path) => /^src\/.*\.ts$/.test(path) && !path.startsWith('src/generated/');
  const lines = new Map();
  let path = '';
  for (const line of git('diff', '--unified=0', '--no-prefix', base(), '--', 'src')) {
    const file = /^\+\+\+ (.*)$/.exec(line);
    if (file) path = file[1];
    const hunk = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (!hunk || !isSource(path)) continue;
    const numbers = Array.from({ length: Number(hunk[2] ?? 1) }, (_unused, index) => Number(hunk[1]) + index);
    lines.set(path, [...(lines.get(path) ?? []), ...numbers]);
  }
  for (const added of newFiles().filter(isSource))
    lines.set(
      added,
      read(added)
        .split('\n')
        .map((_line, index) => index + 1),
    );
  return lines;
}

/**
 * @param changed paths relative to the root
 * @returns paths of test files with their distance from the nearest change (0 = the test file itself has changed), nearest first
 */
export function touchedTests(changed) {
  const files = ['src', 'tests'].flatMap(typescriptBelow);
  const importers = importersOf(files);
  const distances = new Map();
  const visit = (start, from) => {
    let edge = start.filter((path) => !distances.has(path) || distances.get(path) > from);
    for (let distance = from; edge.length > 0; distance++) {
      for (const path of edge) distances.set(path, distance);
      edge = [...new Set(edge.flatMap((path) => importers.get(path) ?? []))].filter(
        (path) => (distances.get(path) ?? Number.POSITIVE_INFINITY) > distance + 1,
      );
    }
  };
  visit(
    changed.filter((path) => path.endsWith('.ts')),
    0,
  );
  const names = changed.filter((path) => path.endsWith('.sql')).flatMap(namesInSql);
  if (names.length > 0) {
    const named = new RegExp(`\\b(?:${[...new Set(names)].join('|')})\\b`);
    visit(
      files.filter((path) => !path.startsWith('src/generated/') && named.test(read(path))),
      1,
    );
  }
  return [...distances]
    .filter(([path]) => path.endsWith('.test.ts'))
    .map(([path, distance]) => ({ path, distance }))
    .sort((a, b) => a.distance - b.distance || (a.path < b.path ? -1 : 1));
}

/** Functions, tables and views that a file of SQL defines or changes, and the tables of its triggers. */
function namesInSql(path) {
  const defined =
    /\b(?:CREATE(?:\s+OR\s+REPLACE)?|ALTER|DROP)\s+(?:FUNCTION|PROCEDURE|TABLE|VIEW)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?"?(\w+)"?/gi;
  const triggered = /\bTRIGGER\s+\w+\s[^;]*?\sON\s+"?(\w+)"?/gi;
  const text = read(path);
  return [...text.matchAll(defined), ...text.matchAll(triggered)].map(([, name]) => name);
}

function typescriptBelow(folder) {
  const names = readdirSync(join(root, folder), { recursive: true });
  return names.map((name) => `${folder}/${name.replaceAll('\\', '/')}`).filter((path) => path.endsWith('.ts'));
}

/** By file, the files that import it; types count, since a test may have to change with them. */
function importersOf(files) {
  const importers = new Map();
  for (const path of files) {
    for (const [, name] of read(path).matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)) {
      const imported = posix.join(dirname(path), name);
      if (!importers.has(imported)) importers.set(imported, []);
      importers.get(imported).push(path);
    }
  }
  return importers;
}
