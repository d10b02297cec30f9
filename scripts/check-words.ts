/**
 * Refuses words (scripts/refused-names.ts) in names of constants, functions, types, parameters, properties, files, tables and columns, and
 * in comments.
 *   npm run check:words                          the check
 *   npm run check:words -- src/domain/tickets    the same below a path
 */
import { declaredNames } from './checks/declared-names.ts';
import { listFiles, projectRoot, readFiles } from './checks/source-files.ts';
import { sqlNames } from './checks/sql-names.ts';
import { commentsOf, lineOf, tokenize } from './checks/typescript-lexer.ts';
import { refusal, refusedPhrases } from './refused-names.ts';

const FOLDERS = ['src', 'packages', 'scripts', 'tests', 'examples'];

const folder = process.argv[2]?.replace(/\/$/, '');

const code = readFiles(
  projectRoot,
  FOLDERS.flatMap((name) => listFiles(projectRoot, name, /\.(?:ts|tsx|mjs)$/)),
);
const schema = readFiles(projectRoot, [
  ...listFiles(projectRoot, 'prisma/models', /\.prisma$/),
  ...listFiles(projectRoot, 'prisma/sql', /\.sql$/),
]);

const refused: string[] = [];
const check = (path: string, name: string, lineNumber: () => number, isType = false): void => {
  const instead = refusal(name, path, isType);
  if (instead !== null && isBelow(path)) refused.push(`${path}:${lineNumber()}:${name}  (${instead})`);
};
for (const { path, text } of code)
  for (const { name, offset, isType } of declaredNames(text)) check(path, name, () => lineOf(text, offset), isType);
for (const { path, text } of code) {
  // The list names what it refuses.
  if (!isBelow(path) || path === 'scripts/refused-names.ts') continue;
  for (const comment of commentsOf(tokenize(text)))
    for (const { phrase, offset, instead } of refusedPhrases(comment.text))
      refused.push(`${path}:${lineOf(text, comment.start + offset)}:"${phrase}" in a comment  (${instead})`);
}
for (const { path, text } of schema) for (const { name, offset } of sqlNames(text)) check(path, name, () => lineOf(text, offset));
const paths = [...code, ...schema].map(({ path }) => path);
for (const path of paths)
  check(
    path,
    path
      .split('/')
      .at(-1)!
      .replace(/\.\w+$/, ''),
    () => 1,
  );
for (const path of new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/') + 1))))
  check(path, path.split('/').at(-2)!, () => 1);

if (refused.length > 0) {
  console.error([...refused, `${refused.length} refused names and phrases`].join('\n'));
  process.exit(1);
}
console.log(`Names and comments: none is refused${folder === undefined ? '' : ` below ${folder}`}.`);

function isBelow(path: string): boolean {
  return folder === undefined || path === folder || path.startsWith(`${folder}/`);
}
