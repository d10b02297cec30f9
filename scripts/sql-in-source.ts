/**
 * Every SQL text of src: template literals and strings, with the constants and simple functions that they are composed of; a part that
 * is known at run time only is a placeholder. `check-table-owners`, `check-sql-columns` and `measure-structure` read it.
 *   node scripts/sql-in-source.ts [folder]    prints them with their places
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Piece } from './checks/piece.ts';
import { listFiles, projectRoot } from './checks/source-files.ts';
import { TextValues } from './checks/text-values.ts';
import { lineOf, type Token } from './checks/typescript-lexer.ts';

export interface SqlText {
  file: string;
  line: number;
  text: string;
  /** In order; their texts joined are `text`. */
  pieces: Piece[];
  /** Whether it begins with a command; otherwise it is a part of a statement, composed in a way that is not followed. */
  isStatement: boolean;
}

const COMMAND = /\b(?:SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE|MERGE\s+INTO)\s+[\w"¤(*'$-]/;
const STATEMENT = /^\s*(?:WITH|SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE|MERGE\s+INTO|LOCK\s+TABLE)\s/;

/** @param folder path from the root, for example `src/domain/tickets` */
export function sqlTexts(root: string, folder = 'src'): SqlText[] {
  const values = new TextValues(root);
  return listFiles(root, folder).flatMap((path) => sqlTextsOf(values, path));
}

export function sqlTextsOf(values: TextValues, path: string): SqlText[] {
  const facts = values.facts(path);
  if (!facts) return [];
  return facts.tokens.flatMap((token): SqlText[] => {
    if (!mayBeSql(token)) return [];
    const pieces = values.valueOf(facts, [token]).items[0] ?? [];
    const text = pieces.map((piece) => piece.text).join('');
    if (!COMMAND.test(text)) return [];
    return [{ file: path, line: lineOf(facts.source, token.start), text, pieces, isStatement: STATEMENT.test(text) }];
  });
}

/** Looks like a condition, a list of columns or an order. */
const PART =
  /\$\d|\$¤|\b[a-z]\w*\.[a-z]+_[a-z_]+\b|\b(?:AND|OR|IS NULL|IS NOT NULL|DESC|ASC|JOIN)\b|^[a-z]+(?:_[a-z]+)*:[a-z0-9]+$/;

/** Keys of the texts of the interface, `file.key`: they look like a column of a table. */
const TEXT_KEYS: readonly string[] = (() => {
  const folder = join(projectRoot, 'locales', 'ru');
  return readdirSync(folder).flatMap((file) => {
    const texts = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>;
    return Object.keys(texts).map((key) => `${file.replace('.json', '')}.${key}`);
  });
})();

function isTextKey(text: string): boolean {
  const [start, ...placeholders] = text.split('¤');
  return TEXT_KEYS.some((key) => (placeholders.length > 0 ? key.startsWith(start!) : key === text));
}

/** Parts of statements in a file with SQL, which no found text is composed of: what is added to a list of conditions, for example. */
export function sqlPartsOf(values: TextValues, path: string, texts: readonly SqlText[]): SqlText[] {
  const facts = values.facts(path)!;
  const used = new Set(texts.flatMap(({ pieces }) => pieces.flatMap(({ file, offset }) => (file === path ? offset! : []))));
  return facts.tokens.flatMap((token): SqlText[] => {
    if (token.kind !== 'template' && token.kind !== 'string') return [];
    const pieces = values.valueOf(facts, [token]).items[0] ?? [];
    const text = pieces.map((piece) => piece.text).join('');
    const isUsed = pieces.some(({ file, offset }) => file === path && used.has(offset!));
    if (
      isUsed ||
      isTextKey(text) ||
      !PART.test(text) ||
      !/[a-z]+_[a-z]/.test(text) ||
      COMMAND.test(text) ||
      /[^\x20-\x7e\n¤¦]/.test(text)
    )
      return [];
    return [{ file: path, line: lineOf(facts.source, token.start), text, pieces, isStatement: false }];
  });
}

function mayBeSql(token: Token): boolean {
  return token.kind === 'template' || (token.kind === 'string' && COMMAND.test(token.text));
}

/** Where the character at an offset of the text is written. */
export function placeIn(values: TextValues, sql: SqlText, at: number): { file: string; line: number } {
  let start = 0;
  for (const piece of sql.pieces) {
    const end = start + piece.text.length;
    if (at < end) {
      const facts = piece.file === undefined ? null : values.facts(piece.file);
      if (facts) return { file: facts.path, line: lineOf(facts.source, piece.offset! + at - start) };
      break;
    }
    start = end;
  }
  return { file: sql.file, line: sql.line };
}

if (import.meta.main) {
  for (const { file, line, text } of sqlTexts(projectRoot, process.argv[2])) console.log(`${file}:${line}\n${text}\n`);
}
