/**
 * Compares the names in the SQL of src with the Prisma schema: a column that is renamed in prisma/models fails here at every use, with its
 * file and line. Refuses selects with row locks that a join may repeat, there and in prisma/sql. Lexical, so that it needs no database:
 * `npm run check:sql`, part of `npm run check`.
 */
import { repeatedLocks } from './checks/locked-selects.ts';
import { readModels } from './checks/prisma-schema.ts';
import { listFiles, projectRoot, readFiles } from './checks/source-files.ts';
import { sqlFunctions } from './checks/sql-functions.ts';
import { type KnownSql, unknownNames } from './checks/sql-identifiers.ts';
import { SQL_FUNCTIONS, SQL_WORDS } from './checks/sql-words.ts';
import { TextValues } from './checks/text-values.ts';
import { lineOf } from './checks/typescript-lexer.ts';
import { placeIn, sqlPartsOf, sqlTextsOf } from './sql-in-source.ts';

const values = new TextValues(projectRoot);
const sqlFiles = [...listFiles(projectRoot, 'prisma/migrations', /\.sql$/), ...listFiles(projectRoot, 'prisma/sql', /\.sql$/)];
const known: KnownSql = {
  tables: new Map([
    ...readModels(projectRoot).map(({ name, table, columns }) => [table ?? name, new Set(columns.values())] as const),
    ['schema_migrations', new Set(['name', 'checksum', 'applied_at'])],
    ['schema_sql', new Set(['name', 'checksum', 'applied_at', 'objects'])],
  ]),
  functions: sqlFunctions(readFiles(projectRoot, sqlFiles).map(({ text }) => text)),
  words: SQL_WORDS,
  builtIn: SQL_FUNCTIONS,
};

const problems = new Set<string>();
const REPEATED = 'a select that locks rows may be carried out once for each joined row: write = ANY(ARRAY(SELECT …)) or a WITH';
for (const { path, text } of readFiles(
  projectRoot,
  sqlFiles.filter((file) => file.startsWith('prisma/sql/')),
)) {
  for (const at of repeatedLocks(text)) problems.add(`${path}:${lineOf(text, at)}: ${REPEATED}`);
}
let whole = 0;
let partly = 0;
/** They read the catalogue, and the tables of another product; every statement of the import is run by its tests. */
const ELSEWHERE = /^src\/(?:cli\/move|integrations\/import-sources|domain\/import)\//;
for (const path of listFiles(projectRoot, 'src').filter((file) => !ELSEWHERE.test(file))) {
  const texts = sqlTextsOf(values, path);
  const parts = texts.length > 0 ? sqlPartsOf(values, path, texts) : [];
  for (const sql of [...texts, ...parts]) {
    // Placeholders of values (`$¤`) do not make a text incomplete.
    if (/¤/.test(sql.text.replaceAll('$¤', '')) || !sql.isStatement) partly++;
    else whole++;
    for (const at of repeatedLocks(sql.text)) {
      const place = placeIn(values, sql, at);
      problems.add(`${place.file}:${place.line}: ${REPEATED}`);
    }
    for (const { at, name, problem } of unknownNames(sql.text, known, sql.isStatement)) {
      const place = placeIn(values, sql, at);
      problems.add(`${place.file}:${place.line}: ${name}: ${problem}`);
    }
  }
}
if (problems.size > 0) {
  console.error([...problems].sort().join('\n'));
  console.error(
    `\n${problems.size} places, mostly names that the schema does not have (prisma/models), or words to add to scripts/checks/sql-words.ts.`,
  );
  process.exit(1);
}
console.log(`Names in SQL: ${whole} texts checked in full, ${partly} except for what only the running program knows.`);
