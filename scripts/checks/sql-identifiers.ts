import { PLACEHOLDER } from './piece.ts';
import { blankComments, blankLiterals } from './sql-lexer.ts';

/** Tables with their columns, and functions with the names that their arguments and results have. */
export interface KnownSql {
  tables: ReadonlyMap<string, ReadonlySet<string>>;
  functions: ReadonlyMap<string, ReadonlySet<string>>;
  /** Keywords and types of PostgreSQL. */
  words: ReadonlySet<string>;
  /** Functions of PostgreSQL: recognised before a bracket only. */
  builtIn: ReadonlySet<string>;
}

export interface UnknownName {
  at: number;
  name: string;
  problem: string;
}

interface SqlToken {
  text: string;
  at: number;
  kind: 'word' | 'other';
}

/** Columns that every table has. */
const SYSTEM_COLUMNS = new Set(['ctid', 'xmin', 'tableoid']);
/** Schemas of others: the job queue's library and PostgreSQL itself. */
const FOREIGN_SCHEMAS = new Set(['jobs', 'pg_catalog', 'information_schema']);
const TABLE_FOLLOWS = new Set(['from', 'join', 'into', 'update', 'only', 'using', 'truncate', 'table']);
/** Between tables of a list, and between texts of which one is used at a time. */
const LIST = new Set([',', '¦']);
const NO_ALIAS = new Set(
  'on where set values select using left right inner full cross join natural order group having limit offset for returning union as default overriding tablesample when then and or not except intersect window lateral'.split(
    ' ',
  ),
);

/** Names that functions of PostgreSQL give to their results, and `WITH ORDINALITY` to the position. */
const RESULT_NAMES: readonly (readonly [name: string, results: readonly string[]])[] = [
  ['jsonb_array_elements', ['value']],
  ['jsonb_array_elements_text', ['value']],
  ['jsonb_each', ['key', 'value']],
  ['jsonb_each_text', ['key', 'value']],
  ['ordinality', ['ordinality']],
];

function tokensOf(text: string): SqlToken[] {
  const plain = blankLiterals(blankComments(text)).replace(/"(?:[^"]|"")*"/g, (quoted) => `"${' '.repeat(quoted.length - 2)}"`);
  // A word with a placeholder in it is not a name; $1 and $name stand for values, ::type for a type.
  const pattern = new RegExp(
    `::\\s*[a-z_]\\w*|\\$[\\w${PLACEHOLDER}]+|[\\w${PLACEHOLDER}]*[A-Za-z_][\\w${PLACEHOLDER}]*|\\S`,
    'g',
  );
  return [...plain.matchAll(pattern)].map((match) => ({
    text: match[0],
    at: match.index,
    kind: /^[A-Za-z_]\w*$/.test(match[0]) ? 'word' : 'other',
  }));
}

/** Names that a text defines: tables by alias, common table expressions, results of subqueries, output columns. */
class Scope {
  readonly tables = new Map<string, Set<string>>();
  readonly usedTables = new Set<string>();
  /** Aliases of other than tables: subqueries, functions, common table expressions. */
  readonly opaque = new Set<string>();
  /** Aliases of tables that are known at run time only: columns of any table are accepted. */
  readonly openAliases = new Set<string>();
  readonly names = new Set<string>();
  /** Reads tables that the schema does not describe. */
  hasForeignTables = false;

  addTable(alias: string, table: string): void {
    this.tables.set(alias, (this.tables.get(alias) ?? new Set()).add(table));
    this.usedTables.add(table);
  }
}

function scopeOf(tokens: readonly SqlToken[], known: KnownSql): Scope {
  const scope = new Scope();
  const lower = tokens.map(({ text }) => text.toLowerCase());
  const addNamesIn = (open: number): void => {
    for (let at = open + 1; at < tokens.length && lower[at] !== ')'; at++)
      if (tokens[at]!.kind === 'word') scope.names.add(lower[at]!);
  };
  tokens.forEach((token, index) => {
    if (token.kind !== 'word') {
      if (token.text === ')') readAlias(index + 1);
      // A table that is a placeholder: the columns of its alias are unknown.
      const alias = token.text.includes(PLACEHOLDER) && TABLE_FOLLOWS.has(lower[index - 1] ?? '') ? aliasAt(index + 1) : null;
      if (alias) scope.openAliases.add(alias);
      return;
    }
    const name = lower[index]!;
    if (name === 'ordinality') readAlias(index + 1);
    if (lower[index - 1] === 'as') {
      scope.names.add(name);
      if (lower[index + 1] === '(' && lower[index - 2] === ')') addNamesIn(index + 1);
    }
    if (isCommonTable(index)) {
      scope.opaque.add(name);
      if (lower[index + 1] === '(') addNamesIn(index + 1);
    }
    const isSchema = lower[index + 1] === '.';
    if (isSchema && FOREIGN_SCHEMAS.has(name)) scope.hasForeignTables = true;
    if (isSchema && name !== 'public') return;
    const before = lower[index - 1] === '.' ? lower[index - 3] : lower[index - 1];
    // A part of a statement may begin with its tables.
    const isFirst = before === undefined && tokens[index + 1]?.kind === 'word';
    if (!isFirst && !(TABLE_FOLLOWS.has(before ?? '') || LIST.has(before ?? ''))) return;
    if (known.tables.has(name)) {
      scope.addTable(name, name);
      const alias = aliasAt(index + 1);
      // Of several tables, one of which is used at a time, the alias may be any.
      if (alias && before === '¦') scope.openAliases.add(alias);
      else if (alias) scope.addTable(alias, name);
    } else if (!isFirst && !LIST.has(before!) && lower[index + 1] !== '(') {
      if (name.startsWith('pg_')) scope.hasForeignTables = true;
      const alias = aliasAt(index + 1);
      if (alias) scope.opaque.add(alias);
    }
  });
  // Common table expressions, and tables with the same names, are known here.
  tokens.forEach((_, index) => {
    if (!scope.opaque.has(lower[index]!) || !(TABLE_FOLLOWS.has(lower[index - 1] ?? '') || lower[index - 1] === ',')) return;
    const alias = aliasAt(index + 1);
    if (alias) scope.opaque.add(alias);
  });
  return scope;

  function aliasAt(index: number): string | null {
    const at = lower[index] === 'as' ? index + 1 : index;
    return tokens[at]?.kind === 'word' && !NO_ALIAS.has(lower[at]!) ? lower[at]! : null;
  }

  function readAlias(index: number): void {
    const at = lower[index] === 'as' ? index + 1 : index;
    if (tokens[at]?.kind !== 'word' || NO_ALIAS.has(lower[at]!) || (at === index && known.words.has(lower[at]!))) return;
    const isOpen = tokens[index - 2]?.text.includes(PLACEHOLDER) && tokens[index - 3]?.text === '(';
    (isOpen ? scope.openAliases : scope.opaque).add(lower[at]!);
    if (lower[at + 1] === '(') addNamesIn(at + 1);
  }

  /** `name AS (`, `name (a, b) AS (`, `name AS MATERIALIZED (`. */
  function isCommonTable(index: number): boolean {
    if (!['with', 'recursive', ','].includes(lower[index - 1] ?? '')) return false;
    let at = index + 1;
    if (lower[at] === '(') while (at < tokens.length && lower[at++] !== ')');
    if (lower[at] !== 'as') return false;
    while (['not', 'materialized', 'as'].includes(lower[at] ?? '')) at++;
    return lower[at] === '(';
  }
}

/**
 * Names in an SQL text that are no column of its tables, no alias, no function and no word of SQL. Undecidable names are left out: a part
 * with a placeholder, and bare names beside tables that the schema does not describe.
 * @param isComplete false for a part of a statement, whose tables are named elsewhere: columns of any table are accepted there
 */
export function unknownNames(text: string, known: KnownSql, isComplete: boolean): UnknownName[] {
  const tokens = tokensOf(text);
  const lower = tokens.map((token) => token.text.toLowerCase());
  const scope = scopeOf(tokens, known);
  const everywhere = !isComplete || scope.usedTables.size === 0 || hasUnknownTable(lower);
  const columns = new Set<string>(SYSTEM_COLUMNS);
  for (const [table, of] of known.tables)
    if (everywhere || scope.usedTables.has(table)) for (const column of of) columns.add(column);
  for (const [name, of] of [...known.functions, ...RESULT_NAMES])
    if (lower.includes(name)) for (const part of of) columns.add(part);
  const isAnyColumn = (name: string): boolean => [...known.tables.values()].some((of) => of.has(name));
  const isKnown = (name: string): boolean => columns.has(name) || scope.names.has(name);
  return tokens.flatMap((token, index): UnknownName[] => {
    if (token.kind !== 'word') return [];
    const name = lower[index]!;
    const unknown = (problem: string): UnknownName[] => [{ at: token.at, name: token.text, problem }];
    if (lower[index - 1] === '.') {
      const owner = lower[index - 2]!;
      if (tokens[index - 2]?.kind !== 'word' || lower[index - 3] === '.' || FOREIGN_SCHEMAS.has(owner) || owner === 'public')
        return [];
      const tables = scope.openAliases.has(owner) ? undefined : scope.tables.get(owner);
      if (tables && !scope.opaque.has(owner)) {
        const has = [...tables].some((table) => known.tables.get(table)!.has(name)) || SYSTEM_COLUMNS.has(name);
        return has ? [] : unknown(`no column of ${[...tables].join(' or ')}`);
      }
      if (scope.hasForeignTables) return [];
      const isAlias = scope.opaque.has(owner) || scope.openAliases.has(owner) || ['excluded', 'new', 'old'].includes(owner);
      if (!isAlias && !everywhere && !text.replaceAll(`$${PLACEHOLDER}`, '').includes(PLACEHOLDER))
        return unknown(`${owner} is no table or alias of this text`);
      if (isKnown(name)) return [];
      if (scope.openAliases.has(owner)) return isAnyColumn(name) ? [] : unknown('no column of any table');
      if (scope.opaque.has(owner) || ['excluded', 'new', 'old'].includes(owner))
        return unknown('no column or result of this text');
      return everywhere ? unknown('no column of any table') : unknown(`${owner} is no table or alias of this text`);
    }
    if (lower[index + 1] === '.') return [];
    if (lower[index + 1] === '(' && (known.functions.has(name) || known.builtIn.has(name))) return [];
    // Of row locks; in lower case it is a column of several tables.
    if (token.text === 'KEY') return [];
    if (known.words.has(name) || isKnown(name) || scope.opaque.has(name) || scope.openAliases.has(name) || scope.tables.has(name))
      return [];
    // E'…' is a text with escapes.
    if (known.tables.has(name) || scope.hasForeignTables || (token.text === 'E' && lower[index + 1] === "'")) return [];
    if (lower[index + 1] === '(') return unknown('no function that is known');
    return unknown(everywhere ? 'no column of any table' : `no column of ${[...scope.usedTables].join(', ')}`);
  });
}

/** Whether a table is a placeholder. */
function hasUnknownTable(lower: readonly string[]): boolean {
  return lower.some((word, index) => word.includes(PLACEHOLDER) && TABLE_FOLLOWS.has(lower[index - 1] ?? ''));
}
