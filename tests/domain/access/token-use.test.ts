import { expect, it } from 'vitest';
import { addMs } from '../../../src/core/clock.ts';
import { touchToken } from '../../../src/domain/access/token-repo.ts';
import { createApiToken } from '../../../src/domain/access/tokens.ts';
import { testApp } from '../../support/test-app.ts';

// Each instance remembers the minute for itself; what holds for all of them is the condition of the statement.
it('spec 01 H24: instances that do not know of each other write the use of a token once a minute', async () => {
  const { app, clock } = await testApp();
  const by = { kind: 'system', name: 'test' } as const;
  const { id } = await createApiToken(app, by, { name: 'shared', description: null, expiresAt: null });
  const stored = async () =>
    (await app.db.sql('SELECT last_used_at, last_used_ip FROM web_api_tokens WHERE id = $1::int', [id]))[0];
  const first = clock.now();
  await touchToken(app.db, id, '203.0.113.1', first);
  await touchToken(app.db, id, '203.0.113.2', addMs(first, 59_000));
  await touchToken(app.db, id, '203.0.113.3', addMs(first, 60_000));
  expect(await stored()).toEqual({ lastUsedAt: first, lastUsedIp: '203.0.113.1' });
  await touchToken(app.db, id, '203.0.113.4', addMs(first, 60_001));
  expect(await stored()).toEqual({ lastUsedAt: addMs(first, 60_001), lastUsedIp: '203.0.113.4' });
});
