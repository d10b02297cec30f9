import { describe, expect, it } from 'vitest';
import { sqlFunctions } from '../../../scripts/checks/sql-functions.ts';
import { type KnownSql, unknownNames } from '../../../scripts/checks/sql-identifiers.ts';
import { SQL_FUNCTIONS, SQL_WORDS } from '../../../scripts/checks/sql-words.ts';

// Raw SQL of this file: texts for the reader of SQL.
const known: KnownSql = {
  tables: new Map([
    ['users', new Set(['id', 'user_name', 'tariff_id', 'notes'])],
    ['tariffs', new Set(['id', 'price_kopeks'])],
  ]),
  functions: sqlFunctions([
    'CREATE FUNCTION post_it(p_user_id integer,\n p_day date) RETURNS TABLE (outcome text, entry_id int) LANGUAGE sql AS $$ SELECT 1 $$;',
  ]),
  words: SQL_WORDS,
  builtIn: SQL_FUNCTIONS,
};
const unknown = (text: string, isComplete = true): string[] => unknownNames(text, known, isComplete).map(({ name }) => name);

describe('unknownNames', () => {
  it.each([
    'SELECT id, user_name FROM users WHERE id = $1::int ORDER BY user_name DESC FOR NO KEY UPDATE',
    'SELECT u.id, t.price_kopeks AS price FROM users u JOIN tariffs AS t ON t.id = u.tariff_id ORDER BY price',
    'UPDATE users u SET user_name = t.id::text FROM tariffs t WHERE t.id = u.tariff_id RETURNING u.id',
    'INSERT INTO users (id, user_name) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET user_name = excluded.user_name',
    'WITH gone AS (DELETE FROM users RETURNING id), made (a, b) AS (SELECT 1, 2) SELECT g.id, made.a FROM gone g, made',
    'SELECT x.total FROM (SELECT count(*)::int AS total FROM users) x',
    'SELECT w.day, w.n FROM unnest($1::text[]) WITH ORDINALITY AS w (day, n)',
    'SELECT r.a FROM jsonb_to_recordset($1::jsonb) AS r(a int, b text)',
    'SELECT outcome, entry_id FROM post_it($1, $2)',
    'SELECT coalesce(json_agg(u), $1) FROM users u',
    'SELECT \'no_such_column\' AS "camelCase" FROM users -- and no_comment',
    'SELECT to_regclass($1) FROM pg_class c WHERE c.relname = relname',
    'SELECT state FROM jobs.job j WHERE j.start_after < now()',
    'SELECT p.¤, p.price_kopeks FROM ¤ p WHERE ¤_x = 1',
    'SELECT id FROM users ¦ tariffs o WHERE o.price_kopeks = 1',
    'SELECT id FROM users LIMIT $¤::int OFFSET $NOW',
  ])('accepts %s', (text) => {
    expect(unknown(text)).toEqual([]);
  });

  it('names a column that the table of the alias does not have', () => {
    expect(unknown('SELECT u.price_kopeks, t.price_kopeks FROM users u JOIN tariffs t ON t.id = u.old_tariff_id')).toEqual([
      'price_kopeks',
      'old_tariff_id',
    ]);
  });

  it('names a bare column that no table of the text has', () => {
    expect(unknown('SELECT id, price_kopeks FROM users')).toEqual(['price_kopeks']);
    expect(unknown('UPDATE users SET gone = 1 WHERE id = 1')).toEqual(['gone']);
  });

  it('names columns of an insert and of what was excluded', () => {
    expect(unknown('INSERT INTO users (id, gone) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET notes = excluded.lost')).toEqual([
      'gone',
      'lost',
    ]);
  });

  it('names aliases and functions that there are not', () => {
    expect(unknown('SELECT x.id FROM users u')).toEqual(['id']);
    expect(unknown('SELECT x.gone, no_such_function(1) FROM users u')).toEqual(['gone', 'no_such_function']);
  });

  it('takes any column in a part of a statement, but none that no table has', () => {
    expect(unknown('t.price_kopeks > 1 AND user_name = $1', false)).toEqual([]);
    expect(unknown('t.gone > 1 AND user_lost = $1', false)).toEqual(['gone', 'user_lost']);
  });

  it('says where the name is', () => {
    expect(unknownNames('SELECT id,\n  gone FROM users', known, true)).toEqual([
      { at: 13, name: 'gone', problem: 'no column of users' },
    ]);
  });
});

it('reads the names of the arguments and results of SQL functions', () => {
  expect([...known.functions.get('post_it')!].sort()).toEqual(['entry_id', 'outcome', 'p_day', 'p_user_id']);
});
