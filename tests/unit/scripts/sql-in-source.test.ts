import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TextValues } from '../../../scripts/checks/text-values.ts';
import { placeIn, sqlTexts, sqlTextsOf } from '../../../scripts/sql-in-source.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sql-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** In the samples `%{` begins what a template inserts. */
function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text.replaceAll('%{', '${'));
}

const texts = (source: string): string[] => {
  write('src/a.ts', source);
  return sqlTexts(root).map(({ text }) => text);
};

describe('sqlTexts', () => {
  it('finds templates and strings with their lines, and nothing else', () => {
    write('src/a.ts', "const a = 'selected';\n// `SELECT 1`\nconst b = 'SELECT 1';\nf(`\n  DELETE FROM x`);\n");
    expect(sqlTexts(root).map(({ file, line, text }) => `${file}:${line} ${text.trim()}`)).toEqual([
      'src/a.ts:3 SELECT 1',
      'src/a.ts:4 DELETE FROM x',
    ]);
  });

  it('puts constants in, and a placeholder for what only the running program knows', () => {
    expect(
      texts("const COLUMNS = 'id, ' + 'name';\nfunction f(x: string) { return `SELECT %{COLUMNS} FROM t WHERE %{x}`; }"),
    ).toEqual(['SELECT id, name FROM t WHERE ¤']);
  });

  it('takes the innermost constant of a name', () => {
    const source =
      "function f() { const a = 'one'; return `SELECT %{a}`; }\nfunction g() { const a = 'two'; return `SELECT %{a}`; }";
    expect(texts(source)).toEqual(['SELECT one', 'SELECT two']);
  });

  it('calls simple functions with their arguments', () => {
    const source =
      "const on = (alias: string) => `%{alias}.id = 1`;\nfunction of(a: string): string { return `%{a}.x`; }\nq(`SELECT %{of('u')} FROM t WHERE %{on('k')}`);";
    expect(texts(source)).toEqual(['SELECT u.x FROM t WHERE k.id = 1']);
  });

  it('gives both sides of a condition, and the elements of a list', () => {
    const source =
      "const parts = ['a = 1'];\nif (x) parts.push('b = 2');\nq(`SELECT 1 FROM t %{y ? 'JOIN k' : ''} WHERE %{parts.join(' AND ')}`);";
    expect(texts(source)).toEqual(['SELECT 1 FROM t JOIN k ¦  WHERE a = 1 AND b = 2 AND ¤']);
  });

  it('gives the properties of a constant object', () => {
    const source = "const SQL = { a: 'x', b: 'y' } as const;\nq(`SELECT %{SQL.a}, %{SQL[k]}`);";
    expect(texts(source)).toEqual(['SELECT x, x ¦ y']);
  });

  it('follows an import, under another name as well, and knows where each part is written', () => {
    write('src/b.ts', "\n\nexport const COLUMNS = 'u.id';\n");
    write('src/a.ts', "import { COLUMNS as C, type D } from './b.ts';\nq(`SELECT\n %{C} FROM users u`);");
    const values = new TextValues(root);
    const [sql] = sqlTextsOf(values, 'src/a.ts');
    expect(sql!.text).toBe('SELECT\n u.id FROM users u');
    expect(placeIn(values, sql!, sql!.text.indexOf('u.id'))).toEqual({ file: 'src/b.ts', line: 3 });
    expect(placeIn(values, sql!, sql!.text.indexOf('FROM'))).toEqual({ file: 'src/a.ts', line: 3 });
  });
});
