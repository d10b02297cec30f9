import { expect, test } from 'vitest';
import { repeatedLocks } from '../../../scripts/checks/locked-selects.ts';

test.each([
  'UPDATE a SET b = 1 WHERE id IN (SELECT id FROM a ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)',
  'UPDATE a r SET b = 1 FROM (SELECT id FROM a LIMIT 1 FOR NO KEY UPDATE) c WHERE c.id = r.id',
  'DELETE FROM a USING (SELECT id FROM a LIMIT 1 FOR UPDATE) c WHERE c.id = a.id',
  'WITH x AS (DELETE FROM a WHERE id IN (SELECT id FROM a FOR UPDATE SKIP LOCKED) RETURNING id) SELECT count(*) FROM x',
  'SELECT 1; UPDATE a SET b = f(c) FROM users u, (SELECT id FROM a LIMIT 1 FOR SHARE) d',
])('is found, as a join may repeat it: %s', (text) => {
  expect(repeatedLocks(text)).toHaveLength(1);
});

test.each([
  'UPDATE a SET b = 1 WHERE id = ANY(ARRAY(SELECT id FROM a LIMIT 1 FOR UPDATE SKIP LOCKED))',
  'UPDATE a SET b = 1 WHERE id = (SELECT id FROM a LIMIT 1 FOR UPDATE SKIP LOCKED)',
  'WITH c AS MATERIALIZED (SELECT id FROM a LIMIT 1 FOR UPDATE) UPDATE a r SET b = 1 FROM c WHERE c.id = r.id',
  'SELECT count(*) FROM (SELECT id FROM a LIMIT 9 FOR UPDATE) locked',
  'UPDATE a SET b = 1; SELECT count(*) FROM (SELECT id FROM a LIMIT 9 FOR UPDATE) locked',
  "UPDATE a SET b = ' IN (SELECT 1 FOR UPDATE)' -- IN (SELECT id FROM a FOR UPDATE)",
  'DELETE FROM a WHERE id IN (SELECT id FROM b)',
])('is carried out once: %s', (text) => {
  expect(repeatedLocks(text)).toEqual([]);
});
