import { placeIn, type SqlText } from '../sql-in-source.ts';
import { PLACEHOLDER } from './piece.ts';
import type { Model } from './prisma-schema.ts';
import { blankComments, blankLiterals } from './sql-lexer.ts';
import type { TextValues } from './text-values.ts';
import { lineOf } from './typescript-lexer.ts';

export interface TableWrite {
  file: string;
  line: number;
  /** Without a schema; null where the text does not say it. */
  table: string | null;
}

const NAME = `(?!(?:UPDATE|DELETE|INSERT|SELECT)\\b)(?:[a-z_]+\\.)?(?:"?\\w+"?|"?${PLACEHOLDER}"?(?:\\."?${PLACEHOLDER}"?)?)`;
/** One name, or several of which one is used at a time. */
const NAMES = `(${NAME}(?:\\s*¦\\s*${NAME})*)`;
const WRITES = [
  new RegExp(`\\bINSERT\\s+INTO\\s+${NAMES}`, 'g'),
  new RegExp(`\\bMERGE\\s+INTO\\s+(?:ONLY\\s+)?${NAMES}`, 'g'),
  new RegExp(`\\bDELETE\\s+FROM\\s+(?:ONLY\\s+)?${NAMES}`, 'g'),
  new RegExp(`\\bTRUNCATE\\s+(?:TABLE\\s+)?(?:ONLY\\s+)?${NAMES}`, 'g'),
  // FOR UPDATE and ON CONFLICT DO UPDATE name no table before their SET.
  new RegExp(`\\bUPDATE\\s+(?:ONLY\\s+)?${NAMES}(?:\\s+(?:AS\\s+)?(?!SET\\b)[a-z]\\w*)?\\s+SET\\b`, 'g'),
];

/** The tables that a text inserts into, updates or deletes from, in common table expressions as well. */
export function writtenTables(text: string): { table: string | null; at: number }[] {
  const plain = blankLiterals(blankComments(text));
  return WRITES.flatMap((pattern) =>
    [...plain.matchAll(pattern)].flatMap((match) =>
      match[1]!
        .split('¦')
        .map((name) => name.trim().replaceAll('"', ''))
        // Tables of the job queue belong to its library.
        .filter((name) => !name.startsWith('jobs.'))
        .map((name) => ({ table: name.includes(PLACEHOLDER) ? null : name.split('.').at(-1)!, at: match.index })),
    ),
  ).sort((one, other) => one.at - other.at);
}

/** Writes of SQL texts, each place once, however many statements it is composed into. */
export function sqlWrites(values: TextValues, texts: readonly SqlText[]): TableWrite[] {
  const writes = new Map<string, TableWrite>();
  for (const sql of texts) {
    for (const { table, at } of writtenTables(sql.text)) {
      const write = { ...placeIn(values, sql, at), table };
      writes.set(`${write.file}:${write.line}:${table}`, write);
    }
  }
  // The same statement, once composed with a parameter and once alone: the known table counts.
  const known = new Set([...writes.values()].filter(({ table }) => table !== null).map(({ file, line }) => `${file}:${line}`));
  return [...writes.values()].filter(({ file, line, table }) => table !== null || !known.has(`${file}:${line}`));
}

const CLIENT_WRITES = [
  'create',
  'createMany',
  'createManyAndReturn',
  'update',
  'updateMany',
  'updateManyAndReturn',
  'upsert',
].concat(['delete', 'deleteMany']);

/** Writes through Prisma Client: `….<model>.<method>(`. */
export function clientWrites(values: TextValues, path: string, models: readonly Model[]): TableWrite[] {
  const facts = values.facts(path);
  if (!facts) return [];
  const tables = new Map(models.map(({ name, table }) => [name[0]!.toLowerCase() + name.slice(1), table]));
  return facts.tokens.flatMap((token, index): TableWrite[] => {
    const [model, dot, method, open] = facts.tokens.slice(index + 1, index + 5);
    if (token.text !== '.' || token.kind !== 'punct' || dot?.text !== '.' || open?.text !== '(') return [];
    if (!CLIENT_WRITES.includes(method!.text)) return [];
    const table = tables.get(model!.text);
    return table ? [{ file: path, line: lineOf(facts.source, token.start), table }] : [];
  });
}

/** String literals of a file and of the files of its folder that it imports, which are names of tables. */
export function namedTables(values: TextValues, path: string, tables: ReadonlySet<string>): string[] {
  const facts = values.facts(path);
  if (!facts) return [];
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const beside = [...facts.imports.values()]
    .filter(({ from }) => /^\.\/[\w.-]+$/.test(from))
    .map(({ from }) => folder + from.slice(2));
  const files = [facts, ...beside.map((other) => values.facts(other))];
  const named = files.flatMap((file) => file?.tokens.filter(({ kind, text }) => kind === 'string' && tables.has(text)) ?? []);
  return [...new Set(named.map(({ text }) => text))];
}
