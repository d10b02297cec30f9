/**
 * Refuses words in names (scripts/refused-names.ts): of constants, functions, types, parameters, properties, files, tables and columns.
 * What is not renamed yet is counted by file in scripts/refused-words.json, which may only shrink.
 *   npm run check:words                          the check
 *   npm run check:words -- src/domain/tickets    lists every refused name below a path
 *   npm run check:words -- --write               updates the list after renaming or moving; it refuses a longer list
 *   npm run check:words -- --own                 lists names with `own`, which are not refused yet
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { declaredNames } from './checks/declared-names.ts';
import { compareWithList, countBy, readShrinkingList, type ShrinkingList, writeShrinkingList } from './checks/shrinking-list.ts';
import { listFiles, projectRoot, readFiles } from './checks/source-files.ts';
import { sqlNames } from './checks/sql-names.ts';
import { lineOf } from './checks/typescript-lexer.ts';
import { isOwnName, refusal } from './refused-names.ts';

const FOLDERS = ['src', 'packages', 'scripts', 'tests', 'examples'];

interface RefusedName {
  path: string;
  line: number;
  name: string;
  instead: string;
}

const listFile = join(projectRoot, 'scripts', 'refused-words.json');
const options = process.argv.slice(2);
const folder = options.find((option) => !option.startsWith('--'));

const code = readFiles(
  projectRoot,
  FOLDERS.flatMap((name) => listFiles(projectRoot, name, /\.(?:ts|tsx|mjs)$/)),
);
const schema = readFiles(projectRoot, [
  ...listFiles(projectRoot, 'prisma/models', /\.prisma$/),
  ...listFiles(projectRoot, 'prisma/sql', /\.sql$/),
]);

if (options.includes('--own')) {
  for (const { path, text } of code.filter((file) => isBelow(file.path)))
    for (const { name, offset } of declaredNames(text))
      if (isOwnName(name)) console.log(`${path}:${lineOf(text, offset)}:${name}`);
  process.exit(0);
}

const refused: RefusedName[] = [];
const check = (path: string, name: string, line: number, isType = false): void => {
  const instead = refusal(name, path, isType);
  if (instead !== null) refused.push({ path, line, name, instead });
};
for (const { path, text } of code)
  for (const { name, offset, isType } of declaredNames(text))
    if (refusal(name, path, isType)) check(path, name, lineOf(text, offset), isType);
for (const { path, text } of schema) for (const { name, offset } of sqlNames(text)) check(path, name, lineOf(text, offset));
const paths = [...code, ...schema].map(({ path }) => path);
for (const path of paths)
  check(
    path,
    path
      .split('/')
      .at(-1)!
      .replace(/\.\w+$/, ''),
    1,
  );
for (const path of new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/') + 1))))
  check(path, path.split('/').at(-2)!, 1);

const found = countBy(refused, ({ path }) => path);
const listed = readShrinkingList(listFile);
const total = (list: ShrinkingList): number => Object.values(list).reduce((sum, count) => sum + count, 0);
const show = ({ path, line, name, instead }: RefusedName): string => `${path}:${line}:${name}  (${instead})`;

if (folder !== undefined) {
  const shown = refused.filter(({ path }) => isBelow(path));
  console.log([...shown.map(show), `${shown.length} refused names`].join('\n'));
  process.exit(0);
}
if (options.includes('--write')) {
  if (existsSync(listFile) && total(found) > total(listed)) {
    console.error(`${total(found)} refused names, the list has ${total(listed)}; the list may only shrink.`);
    process.exit(1);
  }
  writeShrinkingList(listFile, found);
  console.log(`Names: ${total(found)} refused names are listed.`);
  process.exit(0);
}
const { added, gone } = compareWithList(found, listed);
for (const path of added) {
  console.error(`${path}: ${found[path]} refused names, ${listed[path] ?? 0} are listed:`);
  for (const name of refused.filter((entry) => entry.path === path)) console.error(`  ${show(name)}`);
}
for (const path of gone)
  console.error(`scripts/refused-words.json: ${path} has ${found[path] ?? 0} refused names, not ${listed[path]}: take them out`);
if (added.length + gone.length > 0) {
  console.error('\nAfter renaming or moving a file: npm run check:words -- --write');
  process.exit(1);
}
console.log(`Names: ${total(found)} refused names are listed, in ${Object.keys(found).length} files; there are no others.`);

function isBelow(path: string): boolean {
  return folder === undefined || path === folder || path.startsWith(`${folder.replace(/\/$/, '')}/`);
}
