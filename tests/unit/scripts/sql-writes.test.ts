import { describe, expect, it } from 'vitest';
import { writtenTables } from '../../../scripts/checks/sql-writes.ts';
import { moduleOfFile } from '../../../scripts/table-owners.ts';

// Raw SQL of this file: texts for the reader of SQL.
const tables = (text: string): (string | null)[] => writtenTables(text).map(({ table }) => table);

describe('writtenTables', () => {
  it.each([
    ['INSERT INTO users (id) VALUES (1)', ['users']],
    ['UPDATE users SET a = 1', ['users']],
    ['UPDATE users u SET a = 1 FROM tariffs t WHERE t.id = u.x', ['users']],
    ['UPDATE ONLY users AS u SET a = 1', ['users']],
    ['DELETE FROM users WHERE id = 1', ['users']],
    ['TRUNCATE TABLE users', ['users']],
    ['MERGE INTO users u USING x ON true', ['users']],
    ['DELETE FROM public.users', ['users']],
  ])('%s', (text, expected) => {
    expect(tables(text)).toEqual(expected);
  });

  it('finds writes in common table expressions', () => {
    expect(tables('WITH gone AS (DELETE FROM a RETURNING id), new AS (\n INSERT INTO b SELECT 1) UPDATE c SET d = 1')).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('counts ON CONFLICT DO UPDATE as part of its INSERT', () => {
    expect(tables('INSERT INTO a (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET b = excluded.b')).toEqual(['a']);
  });

  it('takes no row lock for a write', () => {
    expect(tables('SELECT id FROM users u FOR UPDATE OF u SKIP LOCKED')).toEqual([]);
    expect(tables('SELECT id FROM users FOR NO KEY UPDATE')).toEqual([]);
  });

  it('leaves text literals, comments and the job queue alone', () => {
    expect(tables("SELECT 'DELETE FROM users', 'it''s' -- UPDATE a SET b\n /* INSERT INTO c */")).toEqual([]);
    expect(tables('UPDATE jobs.job SET state = 1')).toEqual([]);
  });

  it('says when the table is a parameter, and knows a choice of two', () => {
    expect(tables('UPDATE ¤ SET a = 1')).toEqual([null]);
    expect(tables('DELETE FROM a ¦ b WHERE id = 1')).toEqual(['a', 'b']);
  });
});

describe('moduleOfFile', () => {
  it.each([
    ['src/domain/tickets/repo.ts', 'tickets'],
    ['src/core/short-lived.ts', 'core'],
    ['src/jobs/schedules.ts', 'jobs'],
    ['src/domain/promo-groups/repo.ts', 'promo-groups'],
    ['src/domain/referrals/referrers/repo.ts', 'referrals'],
  ])('%s is of %s', (path, module) => {
    expect(moduleOfFile(path)).toBe(module);
  });
});
